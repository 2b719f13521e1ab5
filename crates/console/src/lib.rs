//! What the programs of this house share: how they print and complain ([`output`]), how they write files
//! ([`whole_file`], [`outputs`]), and what they answer to the program that hands over to them ([`asked`]).
//!
//! Only programs may depend on it: libraries give back what is to be said. It knows no verb, and nothing of what is printed.

pub mod asked;
pub mod output;
pub mod outputs;
pub mod whole_file;
