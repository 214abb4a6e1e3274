//! The record chain of an INDEX page, walked with a step limit.
