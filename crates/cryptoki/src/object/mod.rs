//! Objects, their laws and the index that finds them.
