//! Good arguments of a random call.

use crate::PRIMITIVES;
use crate::calls::case::{Case, Function, HANDLE, Item, blank, handle_code};
use crate::calls::good::{self, Space};
use crate::calls::info::{HEADER, Image, empty};
use crate::calls::primitive::{Query, primitive};
use crate::calls::random::Random;
use crate::calls::session::{MOST_ITEMS, Session, device_info};
use trommel::capi::*;

/// Good arguments of a random function.
pub(crate) fn good_case(random: &mut Random, session: &Session) -> Option<Case> {
    let mut case = blank(Function::any(random));
    let of = if let Function::Record(number) | Function::Query(number, _) = case.function { number } else { 0 };
    case.handle = Some(session.pick(random, of, 0)?);
    match case.function {
        Function::Record(_) => single(random, session, &mut case)?,
        Function::Batch | Function::BatchScratch => batch(random, session, &mut case)?,
        Function::Create(number, creation) => primitive(number).draw_creation(creation, random, &mut case),
        Function::CreateDevice => device(random, &mut case),
        Function::Requirements => {
            case.facts_seed = random.next();
            case.number = random.pick(&[0, 1, 2, 300]);
            let mut image = Image::of(&empty::<TrmDeviceRequirementsInfo>());
            [HEADER, HEADER + 8, HEADER + 16].into_iter().for_each(|offset| image.set(offset, 8, 1));
            image.set(HEADER + 24, 4, ash::vk::API_VERSION_1_3.into());
            case.image = image;
        }
        Function::Query(number, query) => {
            if !matches!(primitive(number).queries()[query].0, Query::Number { .. }) {
                let (side, index) = case.handle?;
                case.number = random.count(session.model(side, index)?.handle.items().max_count).into();
            }
        }
        Function::Plain => case.number = random.next(),
    }
    Some(case)
}

fn device(random: &mut Random, case: &mut Case) {
    case.facts_seed = random.next();
    case.debug_utils = random.once_in(3);
    let mut fake = crate::calls::fake::Fake::new(good::facts(&mut Random::new(case.facts_seed, 0)));
    (fake.debug_utils, fake.callbacks) = (case.debug_utils, random.once_in(3));
    let profile = random.once_in(2);
    if profile {
        case.text = trommel::Profile::for_device(&fake.facts).to_string().into_bytes();
    }
    case.image = Image::of(&device_info(random, &fake, profile));
}

/// Scratch of exactly the size that is asked for, or of more.
pub(crate) fn scratch(random: &mut Random, required: u64) -> TrmScratch {
    let size = required.saturating_add(if random.once_in(2) { 0 } else { random.below(5000) });
    if random.once_in(10) && size < 1 << 19 {
        return TrmScratch { buffer: ash::vk::Handle::from_raw(2), offset: random.below(1 << 17) * 4, size };
    }
    let offset = if random.once_in(2) { 256 * random.below(1 << 20) } else { 4 * random.below(1 << 20) };
    TrmScratch { buffer: ash::vk::Handle::from_raw(1), offset, size }
}

fn single(random: &mut Random, session: &Session, case: &mut Case) -> Option<()> {
    let (side, index) = case.handle?;
    let mut space = Space::new(random);
    let most = if random.once_in(2) { 5000 } else { u32::MAX };
    let mut size = 0u64;
    let model = session.model(side, index)?;
    let (primitive, members) = (primitive(model.primitive), primitive(model.primitive).members());
    let mut image = model.handle.draw(random, most, &mut space);
    // SAFETY: the session's handles are alive.
    unsafe { primitive.scratch(model.handle.address(), members.max_count(&image), &raw mut size) };
    image.set_scratch(members.scratch, &scratch(random, size));
    case.image = image;
    let again = random.once_in(3);
    case.image.set(HANDLE, 8, if again { handle_code(case.handle) } else { 0 });
    Some(())
}

fn batch(random: &mut Random, session: &Session, case: &mut Case) -> Option<()> {
    let len = match random.below(10) {
        0 => 0,
        1 => random.index(MOST_ITEMS + 1),
        _ => 1 + random.index(6),
    };
    let most = random.pick(&[100, 5000, 5000, 200_000, 200_000, u32::MAX]);
    let mut space = Space::new(random);
    // Often of few handles, so that problems share dispatches.
    let one = (0..PRIMITIVES.len()).map(|number| session.pick(random, number, 0)).collect::<Option<Vec<_>>>()?;
    let few = random.once_in(2);
    for _ in 0..len {
        // From the last on, so that seeds keep their calls.
        let primitive = PRIMITIVES.len() - 1 - random.index(PRIMITIVES.len());
        let handle = if few { one[primitive] } else { session.pick(random, primitive, 0)? };
        let mut image = session.model(handle.0, handle.1)?.handle.draw(random, most, &mut space);
        image.set(HANDLE, 8, handle_code(Some(handle)));
        case.items.push(Item { primitive, image });
    }
    random.shuffle(&mut case.items);
    let list: *const *const TrmInfoHeader = std::ptr::without_provenance(8);
    let info_count = u32::try_from(len).unwrap_or(0);
    case.image = Image::of(&TrmBatchInfo { info_count, infos: list, ..empty() });
    Some(())
}
