//! A set of attributes, each type once.

use super::value::AttributeValue;
use crate::constants::AttributeType;

/// Attributes in the order of their types, each type once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttributeSet {
    // An object has about twenty attributes: a sorted list is smaller and faster than a map.
    entries: Vec<(AttributeType, AttributeValue)>,
}

impl AttributeSet {
    /// Creates an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the value of an attribute.
    #[must_use]
    pub fn get(&self, kind: AttributeType) -> Option<&AttributeValue> {
        let index = self.find(kind).ok()?;
        self.entries.get(index).map(|(_, value)| value)
    }

    /// Sets an attribute and returns its earlier value.
    pub fn set(&mut self, kind: AttributeType, value: impl Into<AttributeValue>) -> Option<AttributeValue> {
        let value = value.into();
        match self.find(kind) {
            Ok(index) => self.entries.get_mut(index).map(|entry| std::mem::replace(&mut entry.1, value)),
            Err(index) => {
                self.entries.insert(index, (kind, value));
                None
            }
        }
    }

    /// Sets an attribute if the set has none of this type.
    pub(crate) fn set_default(&mut self, kind: AttributeType, value: impl Into<AttributeValue>) {
        if let Err(index) = self.find(kind) {
            self.entries.insert(index, (kind, value.into()));
        }
    }

    /// Takes an attribute out.
    pub fn remove(&mut self, kind: AttributeType) -> Option<AttributeValue> {
        let index = self.find(kind).ok()?;
        Some(self.entries.remove(index).1)
    }

    /// True if the set has an attribute of this type.
    #[must_use]
    pub fn contains(&self, kind: AttributeType) -> bool {
        self.find(kind).is_ok()
    }

    /// Returns a truth value, or `None` if the attribute is missing or of another form.
    #[must_use]
    pub fn bool(&self, kind: AttributeType) -> Option<bool> {
        self.get(kind)?.as_bool()
    }

    /// True if the attribute is there and true.
    #[must_use]
    pub fn is_true(&self, kind: AttributeType) -> bool {
        self.bool(kind) == Some(true)
    }

    /// Returns a number, or `None` if the attribute is missing or of another form.
    #[must_use]
    pub fn number(&self, kind: AttributeType) -> Option<u64> {
        self.get(kind)?.as_number()
    }

    /// Returns bytes, or `None` if the attribute is missing or of another form.
    #[must_use]
    pub fn bytes(&self, kind: AttributeType) -> Option<&[u8]> {
        self.get(kind)?.as_bytes()
    }

    /// Returns the attributes of a template, or `None` if the attribute is missing or of another form.
    #[must_use]
    pub fn template(&self, kind: AttributeType) -> Option<&[(AttributeType, AttributeValue)]> {
        self.get(kind)?.as_template()
    }

    /// Returns the attributes in the order of their types.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (AttributeType, &AttributeValue)> {
        self.entries.iter().map(|(kind, value)| (*kind, value))
    }

    /// Returns the number of attributes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if there is no attribute.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn find(&self, kind: AttributeType) -> Result<usize, usize> {
        self.entries.binary_search_by_key(&kind, |(kind, _)| *kind)
    }
}

impl FromIterator<(AttributeType, AttributeValue)> for AttributeSet {
    fn from_iter<I: IntoIterator<Item = (AttributeType, AttributeValue)>>(entries: I) -> Self {
        let mut set = Self::new();
        for (kind, value) in entries {
            set.set(kind, value);
        }
        set
    }
}
