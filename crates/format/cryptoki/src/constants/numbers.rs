//! Groups of numbers, each stated once.

/// Defines the type of a group of numbers. A number has its name here, its name in the standard and its value.
macro_rules! numbers {
    (
        $(#[$meta:meta])*
        $type:ident $prefix:literal;
        $($name:ident: $standard:ident = $value:literal,)*
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(pub u64);

        impl $type {
            $(
                #[doc = concat!("`", stringify!($standard), "`.")]
                pub const $name: Self = Self($value);
            )*

            /// Every number that has a name, and the name.
            pub(crate) const ALL: &'static [(&'static str, Self)] =
                &[$((stringify!($standard), Self::$name),)*];

            /// The values of [`ALL`](Self::ALL) in the header of the standard.
            #[cfg(test)]
            pub(super) const HEADER: &'static [u64] = &[$(cryptoki_sys::$standard,)*];

            /// Returns the name in the standard, if the number has one here.
            pub(crate) fn name(self) -> Option<&'static str> {
                Self::ALL.iter().find(|(_, number)| *number == self).map(|(name, _)| *name)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, concat!($prefix, " {:#x}"), self.0),
                }
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    };
}
pub(super) use numbers;
