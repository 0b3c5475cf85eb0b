//! The front over real sockets, with a scripted backend.

mod client;
mod coming_in;
mod cut_off;
mod end;
mod legacy;
mod load;
mod modern;
mod rules;
mod script;
mod secured;
mod streams;
