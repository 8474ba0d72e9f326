//! Objects in the tables: reading with checks, writing with encryption and seals.

use std::collections::BTreeMap;

use rusqlite::{Connection, Row, Rows, Transaction, params};
use zeroize::Zeroizing;

use super::error::{DamagedContent, StoreFault};
use super::master_key::{AttributePosition, SealingKey, StoredBytes, encode_object, public_seal};
use super::object::{
    ChangedObject, MAX_OBJECT_BYTES, ObjectId, StoredAttributes, StoredObject, StoredValue, UnstoredObject,
};

const COLUMNS: &str = "SELECT o.id, o.version, o.private, o.seal, a.type, a.secret, a.value \
                       FROM object o LEFT JOIN attribute a ON a.object = o.id";

/// The secret values that a reader wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SecretValues {
    Decrypted,
    Concealed,
}

/// The objects that a caller may see.
#[derive(Clone, Debug, Default)]
pub struct StoreListing {
    /// The objects, in the order of their numbers.
    pub objects: Vec<StoredObject>,
    /// The damage of each object that is missing above because of it.
    pub damaged: Vec<DamagedContent>,
}

/// The reach of a caller: the objects that it may see and change.
pub(super) struct ObjectAccess {
    /// The key for secret attributes and seals, after a login of either role.
    pub(super) key: Option<SealingKey>,
    /// True after a login of the user.
    pub(super) sees_private: bool,
}

/// An object as the tables have it.
struct StoredRows {
    id: ObjectId,
    version: u64,
    is_private: bool,
    seal: Vec<u8>,
    attributes: Vec<StoredBytes>,
}

/// Reads all objects that the caller may see, in the order of their numbers, and notes those that are damaged.
pub(super) fn list(
    connection: &Connection,
    access: &ObjectAccess,
    secrets: SecretValues,
) -> Result<StoreListing, StoreFault> {
    let filter = if access.sees_private { "" } else { " WHERE o.private = 0" };
    let mut query = connection.prepare(&format!("{COLUMNS}{filter} ORDER BY o.id"))?;
    let mut listing = StoreListing::default();
    for object in collect(query.query([])?)? {
        match object.open(access, secrets) {
            Ok(object) => listing.objects.push(object),
            // One bad object does not hide the others.
            Err(StoreFault::Damaged { what }) => listing.damaged.push(what),
            Err(fault) => return Err(fault),
        }
    }
    Ok(listing)
}

/// Reads one object, with its secret values if there is a key.
pub(super) fn read(
    connection: &Connection,
    access: &ObjectAccess,
    id: ObjectId,
) -> Result<StoredObject, StoreFault> {
    find(connection, id)?.open(access, SecretValues::Decrypted)
}

/// Adds an object, and returns its number.
pub(super) fn insert(
    transaction: &Transaction<'_>,
    access: &ObjectAccess,
    version: u64,
    object: &UnstoredObject,
) -> Result<ObjectId, StoreFault> {
    check_values(object)?;
    if object.is_private && !access.sees_private {
        return Err(StoreFault::LoginToInsert);
    }
    // The seal depends on the number, which the table gives.
    transaction.execute(
        "INSERT INTO object (version, private, seal) VALUES (?1, ?2, x'')",
        params![version.cast_signed(), object.is_private],
    )?;
    let id = ObjectId(transaction.last_insert_rowid().cast_unsigned());
    write(transaction, access, id, version, object)?;
    Ok(id)
}

/// Sets and removes attributes of an object. All its values are encrypted again for the new version.
pub(super) fn update(
    transaction: &Transaction<'_>,
    access: &ObjectAccess,
    version: u64,
    old: ChangedObject,
    set: &StoredAttributes,
    remove: &[u64],
) -> Result<(), StoreFault> {
    let rows = find(transaction, old.id)?;
    rows.check_changeable(access)?;
    if rows.version != old.version {
        return Err(StoreFault::Conflict { id: old.id, expected: old.version, found: rows.version });
    }
    let StoredObject { id, is_private, mut attributes, .. } = rows.open(access, SecretValues::Decrypted)?;
    attributes.retain(|attribute, _| !remove.contains(attribute));
    attributes.extend(set.iter().map(|(attribute, value)| (*attribute, value.clone())));
    let object = UnstoredObject { is_private, attributes };
    check_values(&object)?;
    transaction.execute("DELETE FROM attribute WHERE object = ?1", [id.0.cast_signed()])?;
    write(transaction, access, id, version, &object)
}

/// Removes an object.
pub(super) fn remove(
    transaction: &Transaction<'_>,
    access: &ObjectAccess,
    id: ObjectId,
) -> Result<(), StoreFault> {
    find(transaction, id)?.check_changeable(access)?;
    transaction.execute("DELETE FROM attribute WHERE object = ?1", [id.0.cast_signed()])?;
    transaction.execute("DELETE FROM object WHERE id = ?1", [id.0.cast_signed()])?;
    Ok(())
}

/// Removes all objects.
pub(super) fn remove_all(transaction: &Transaction<'_>) -> Result<(), StoreFault> {
    Ok(transaction.execute_batch("DELETE FROM attribute; DELETE FROM object")?)
}

fn find(connection: &Connection, id: ObjectId) -> Result<StoredRows, StoreFault> {
    let mut query = connection.prepare(&format!("{COLUMNS} WHERE o.id = ?1"))?;
    let mut objects = collect(query.query([id.0.cast_signed()])?)?;
    objects.pop().ok_or(StoreFault::NoObject(id))
}

fn check_values(object: &UnstoredObject) -> Result<(), StoreFault> {
    let missing = object.attributes.iter().find(|(_, value)| value.bytes().is_none());
    if let Some((attribute, _)) = missing {
        return Err(StoreFault::NoValue { attribute: *attribute });
    }
    match object.len_bytes() {
        found if found > MAX_OBJECT_BYTES => Err(StoreFault::ObjectLength { found, max: MAX_OBJECT_BYTES }),
        _ => Ok(()),
    }
}

/// Writes the attributes of an object, which has none, and its seal.
fn write(
    transaction: &Transaction<'_>,
    access: &ObjectAccess,
    id: ObjectId,
    version: u64,
    object: &UnstoredObject,
) -> Result<(), StoreFault> {
    let key = match &access.key {
        _ if !object.needs_login() => None,
        None => return Err(StoreFault::LoginToInsert),
        key => key.as_ref(),
    };
    let stored = encrypt_values(key, id, version, object)?;
    let encoded = encode_object(id, version, object.is_private, &stored);
    let seal = match key {
        Some(key) => key.seal_object(&encoded)?,
        None => public_seal(&encoded),
    };
    let mut insert =
        transaction.prepare("INSERT INTO attribute (object, type, secret, value) VALUES (?1, ?2, ?3, ?4)")?;
    for row in &stored {
        insert.execute(params![id.0.cast_signed(), row.attribute.cast_signed(), row.is_secret, row.bytes])?;
    }
    transaction.execute(
        "UPDATE object SET version = ?2, seal = ?3 WHERE id = ?1",
        params![id.0.cast_signed(), version.cast_signed(), seal],
    )?;
    Ok(())
}

/// Returns the values as they are stored: encrypted if they are secret or the object is private.
fn encrypt_values(
    key: Option<&SealingKey>,
    id: ObjectId,
    version: u64,
    object: &UnstoredObject,
) -> Result<Vec<StoredBytes>, StoreFault> {
    let encrypt = |(&attribute, value): (&u64, &StoredValue)| {
        let (is_private, is_secret) = (object.is_private, value.is_secret());
        let position = AttributePosition { object: id, version, is_private, attribute, is_secret };
        let value = value.bytes().ok_or(StoreFault::NoValue { attribute })?;
        let bytes = match key {
            Some(key) if is_private || is_secret => key.seal_value(position, value)?,
            _ => value.to_vec(),
        };
        Ok(StoredBytes { attribute, is_secret, bytes })
    };
    object.attributes.iter().map(encrypt).collect()
}

/// Gathers the rows of objects, which stand one behind the other.
fn collect(mut rows: Rows<'_>) -> Result<Vec<StoredRows>, StoreFault> {
    let mut objects: Vec<StoredRows> = Vec::new();
    while let Some(row) = rows.next()? {
        let id = ObjectId(row.get::<_, i64>(0)?.cast_unsigned());
        if objects.last().is_none_or(|object| object.id != id) {
            let version = row.get::<_, i64>(1)?.cast_unsigned();
            let (is_private, seal) = (row.get(2)?, row.get(3)?);
            objects.push(StoredRows { id, version, is_private, seal, attributes: Vec::new() });
        }
        let attributes = objects.last_mut().map(|object| &mut object.attributes);
        if let (Some(attributes), Some(attribute)) = (attributes, row.get::<_, Option<i64>>(4)?) {
            attributes.push(stored_bytes(row, attribute)?);
        }
    }
    // SQLite orders types as signed numbers, the encoding of an object as unsigned ones.
    objects.iter_mut().for_each(|object| object.attributes.sort_by_key(|row| row.attribute));
    Ok(objects)
}

fn stored_bytes(row: &Row<'_>, attribute: i64) -> Result<StoredBytes, StoreFault> {
    Ok(StoredBytes { attribute: attribute.cast_unsigned(), is_secret: row.get(5)?, bytes: row.get(6)? })
}

impl StoredRows {
    /// True if the object was written with a login.
    fn is_sealed(&self) -> bool {
        self.is_private || self.attributes.iter().any(|row| row.is_secret)
    }

    /// Checks that the caller may change the object.
    fn check_changeable(&self, access: &ObjectAccess) -> Result<(), StoreFault> {
        let is_allowed = match self.is_private {
            true => access.sees_private,
            false => access.key.is_some() || !self.is_sealed(),
        };
        if is_allowed { Ok(()) } else { Err(StoreFault::LoginNeeded(self.id)) }
    }

    /// Checks the seal and decrypts what the caller may see and wants. Without a key the seal of an object with secret
    /// attributes cannot be checked.
    fn open(self, access: &ObjectAccess, secrets: SecretValues) -> Result<StoredObject, StoreFault> {
        if self.is_private && !access.sees_private {
            return Err(StoreFault::LoginNeeded(self.id));
        }
        let key = access.key.as_ref();
        self.check_seal(key)?;
        let Self { id, version, is_private, attributes, .. } = self;
        let open = |row: StoredBytes| {
            let StoredBytes { attribute, is_secret, bytes } = row;
            if is_secret && (secrets == SecretValues::Concealed || key.is_none()) {
                return Ok((attribute, StoredValue::Concealed));
            }
            let position = AttributePosition { object: id, version, is_private, attribute, is_secret };
            let value = match key {
                Some(key) if is_private || is_secret => key.open_value(position, &bytes),
                _ => Some(Zeroizing::new(bytes)),
            };
            let damaged = || StoreFault::damaged(DamagedContent::Attribute { object: id, attribute });
            let value = value.ok_or_else(damaged)?;
            Ok((
                attribute,
                if is_secret { StoredValue::Secret(value) } else { StoredValue::Plain(value.to_vec()) },
            ))
        };
        let attributes: Result<BTreeMap<_, _>, StoreFault> = attributes.into_iter().map(open).collect();
        Ok(StoredObject { id, version, is_private, attributes: attributes? })
    }

    fn check_seal(&self, key: Option<&SealingKey>) -> Result<(), StoreFault> {
        let encoded = encode_object(self.id, self.version, self.is_private, &self.attributes);
        let is_right = match key {
            Some(key) if self.is_sealed() => key.is_seal_of(&self.seal, &encoded),
            None if self.is_sealed() => true,
            _ => self.seal == public_seal(&encoded),
        };
        if is_right { Ok(()) } else { Err(StoreFault::damaged(DamagedContent::Object(self.id))) }
    }
}
