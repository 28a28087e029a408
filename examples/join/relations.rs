//! Two relations, and their join on the CPU.

use std::collections::{BTreeMap, HashMap};

/// The city of orders without a customer.
pub(crate) const NO_CITY: u32 = u32::MAX;

/// The columns of two relations.
pub(crate) struct Relations {
    /// Distinct numbers of customers.
    pub(crate) customers: Vec<u32>,
    /// The city of each customer.
    pub(crate) cities: Vec<u32>,
    /// The customer of each order. Some do not exist.
    pub(crate) orders: Vec<u32>,
    /// The amount of each order.
    pub(crate) amounts: Vec<u64>,
}

/// Orders of a city, and the sum of their amounts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) orders: u32,
    pub(crate) amount: u64,
}

/// A bijection: the finalizer of MurmurHash3 (Appleby).
fn mix(mut h: u32) -> u32 {
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}

impl Relations {
    /// So many customers and as many orders. A quarter of the orders has no customer. A city has 100 customers on
    /// average.
    pub(crate) fn generate(rows: u32) -> Self {
        let cities = (rows / 100).max(1);
        let draw = |i: u32, of: u32, salt: u32| {
            let share = u64::from(mix(mix(i) ^ salt)) * u64::from(of);
            (share >> 32) as u32
        };
        let customer = |i: u32| mix(draw(i, rows, 1) + if draw(i, 4, 2) == 0 { rows } else { 0 });
        Self {
            customers: (0..rows).map(mix).collect(),
            cities: (0..rows).map(|i| draw(i, cities, 3)).collect(),
            orders: (0..rows).map(customer).collect(),
            // Sums exceed 32 bits.
            amounts: (0..rows).map(|i| u64::from(mix(i ^ 4))).collect(),
        }
    }

    /// Most cities of a result, that of orders without a customer included.
    pub(crate) fn most_cities(&self) -> u32 {
        self.cities.iter().max().map_or(1, |last| last + 2)
    }

    /// Joins both relations by maps of the standard library, and groups the orders by city.
    pub(crate) fn join(&self) -> BTreeMap<u32, Group> {
        let rows: HashMap<u32, usize> = self.customers.iter().copied().zip(0..).collect();
        let mut groups = BTreeMap::<u32, Group>::new();
        for (customer, amount) in self.orders.iter().zip(&self.amounts) {
            let city = rows.get(customer).map_or(NO_CITY, |row| self.cities[*row]);
            let group = groups.entry(city).or_default();
            group.orders += 1;
            group.amount += amount;
        }
        groups
    }
}
