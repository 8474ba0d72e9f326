//! The checks of a structure before its memory is read.

use arrow_array::ffi::FFI_ArrowArray;
use arrow_schema::DataType;

use super::PassFault;

/// The most rows of an array, with those before its offset. A view has 16 bytes, and more would exceed any memory.
const MAX_ROWS: usize = isize::MAX as usize / 16;

/// Checks the counts and pointers of an array of bytes.
pub(super) fn check_array(array: &FFI_ArrowArray, data_type: &DataType) -> Result<(), PassFault> {
    check_type(data_type)?;
    if array.is_released() {
        return malformed("the array was released before");
    }
    // Negative numbers are larger than any allowed one here.
    let rows = array.len().checked_add(array.offset()).filter(|rows| *rows <= MAX_ROWS);
    let Some(rows) = rows else { return malformed("the length or the offset is negative or too large") };
    match data_type {
        DataType::Null => Ok(()),
        DataType::Binary | DataType::Utf8 => check_offsets::<i32>(array, rows),
        DataType::LargeBinary | DataType::LargeUtf8 => check_offsets::<i64>(array, rows),
        DataType::BinaryView | DataType::Utf8View => check_views(array, rows),
        DataType::FixedSizeBinary(width) => check_fixed(array, rows, *width),
        DataType::Dictionary(_, values) => {
            expect_buffers(array, 2)?;
            expect_pointer(array, 1, rows > 0)?;
            match array.dictionary() {
                Some(dictionary) => check_array(dictionary, values),
                None => malformed("a dictionary has no values"),
            }
        }
        // unreachable because `check_type` has refused it
        other => Err(PassFault::Type(other.to_string())),
    }
}

/// Checks that values of a type are bytes.
pub(super) fn check_type(data_type: &DataType) -> Result<(), PassFault> {
    match data_type {
        DataType::Null
        | DataType::Binary
        | DataType::Utf8
        | DataType::LargeBinary
        | DataType::LargeUtf8
        | DataType::BinaryView
        | DataType::Utf8View
        | DataType::FixedSizeBinary(_) => Ok(()),
        DataType::Dictionary(_, values) => check_type(values),
        other => Err(PassFault::Type(other.to_string())),
    }
}

/// Checks an array with offsets: the last offset is the length of the values.
fn check_offsets<T: Copy + Into<i64>>(array: &FFI_ArrowArray, rows: usize) -> Result<(), PassFault> {
    expect_buffers(array, 3)?;
    if rows == 0 {
        return Ok(());
    }
    expect_pointer(array, 1, true)?;
    // SAFETY: an array of `rows` rows has one more offset, by the Arrow format. The pointer is not null, and the address
    // may be unaligned.
    let last: i64 = unsafe { array.buffer(1).cast::<T>().add(rows).read_unaligned() }.into();
    if last < 0 {
        return malformed("the last offset is negative");
    }
    expect_pointer(array, 2, last > 0)
}

/// Checks an array of views: the last buffer has the lengths of those that the views name.
fn check_views(array: &FFI_ArrowArray, rows: usize) -> Result<(), PassFault> {
    let buffers = array.num_buffers();
    if !(3..=MAX_ROWS).contains(&buffers) {
        return malformed("an array of views has fewer than three buffers");
    }
    expect_pointer(array, 1, rows > 0)?;
    let data_buffers = buffers - 3;
    expect_pointer(array, buffers - 1, data_buffers > 0)?;
    for index in 0..data_buffers {
        // SAFETY: the last buffer has one length for each buffer of values, by the Arrow format, and is not null.
        let len = unsafe { array.buffer(buffers - 1).cast::<i64>().add(index).read_unaligned() };
        if len < 0 {
            return malformed("a buffer of views has a negative length");
        }
        expect_pointer(array, 2 + index, len > 0)?;
    }
    Ok(())
}

fn check_fixed(array: &FFI_ArrowArray, rows: usize, width: i32) -> Result<(), PassFault> {
    expect_buffers(array, 2)?;
    let width = usize::try_from(width).ok();
    let bytes = width.and_then(|width| rows.checked_mul(width)).filter(|bytes| *bytes <= isize::MAX as usize);
    match bytes {
        Some(bytes) => expect_pointer(array, 1, bytes > 0),
        None => malformed("the width is negative or too large"),
    }
}

fn expect_buffers(array: &FFI_ArrowArray, expected: usize) -> Result<(), PassFault> {
    let found = array.num_buffers();
    if found == expected {
        return Ok(());
    }
    Err(PassFault::Malformed(format!("expected {expected} buffers, found {}", found.cast_signed())))
}

fn expect_pointer(array: &FFI_ArrowArray, index: usize, is_needed: bool) -> Result<(), PassFault> {
    if is_needed && array.buffer(index).is_null() {
        return Err(PassFault::Malformed(format!("buffer {index} is null")));
    }
    Ok(())
}

fn malformed(fault: &str) -> Result<(), PassFault> {
    Err(PassFault::Malformed(fault.to_owned()))
}
