//! quick
use trommel::host::*;
use trommel::*;
#[test]
fn quick() {
    let context = Context::new().unwrap();
    println!("{} {:?}\n{}", context.name(), context.device().facts(), context.device().profile());
    for strategy in [Strategy::ReduceThenScan, Strategy::Lookback] {
        for n in std::env::var("NS").unwrap_or("0,1,5,1000,3000,10000,100000,1000003".into()).split(",").map(|s| s.parse::<usize>().unwrap()) {
            for pairs in [false, true] {
                let mut x = 12345u32;
                let keys: Vec<u32> = (0..n).map(|_| { x ^= x << 13; x ^= x >> 17; x ^= x << 5; x }).collect();
                let values: Vec<u32> = (0..n as u32).collect();
                let info = if pairs { SorterInfo::pairs() } else { SorterInfo::keys() }.strategy(strategy);
                let sorter = Sorter::new(context.device(), &info).unwrap();
                let k = context.upload(&keys).unwrap();
                let v = context.upload(&values).unwrap();
                let s = context.buffer(sorter.scratch_size(n as u32).unwrap()).unwrap();
                let sort = SortInfo { count: Count::host(n as u32), keys: k.range(), values: if pairs {v.range()} else {Range::NONE}, scratch: s.scratch(), ..Default::default() };
                if n == 1_000_003 { println!("{}", sorter.describe(&sort).unwrap()); }
                let t = std::time::Instant::now();
                context.run(|c| unsafe { sorter.cmd_sort(c, &sort) }).unwrap();
                println!("{strategy:?} {n} {pairs} {:?}", t.elapsed());
                let mut e: Vec<(u32,u32)> = keys.iter().copied().zip(values).collect();
                e.sort_by_key(|p| p.0);
                let gk: Vec<u32> = context.download(&k, n).unwrap();
                let gv: Vec<u32> = context.download(&v, n).unwrap();
                if n < 20 { println!("{gk:x?} {gv:x?} want {e:x?}"); }
                let bad = (0..n).find(|&i| gk[i] != e[i].0 || (pairs && gv[i] != e[i].1));
                assert_eq!(bad, None, "{strategy:?} {n} {pairs}");
            }
        }
    }
    assert!(context.messages().is_empty());
}
