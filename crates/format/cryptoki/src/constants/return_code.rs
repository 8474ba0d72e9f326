//! Return values: the errors of PKCS#11, `CKR_*` of version 3.2.

/// Defines the return codes. Each has its name here, its name in the standard, its value and its meaning.
macro_rules! return_codes {
    ($(#[$meta:meta])* $($name:ident: $standard:ident = $value:literal, $text:literal;)*) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
        #[non_exhaustive]
        #[repr(u64)]
        pub enum ReturnCode {
            $(
                #[doc = concat!("`", stringify!($standard), "`: ", $text, ".")]
                #[error("{}: {}", stringify!($standard), $text)]
                $name = $value,
            )*
        }

        /// Every code with its name and its value in the header of the standard.
        #[cfg(test)]
        pub(super) const HEADER: &[(ReturnCode, &str, u64)] =
            &[$((ReturnCode::$name, stringify!($standard), cryptoki_sys::$standard),)*];
    };
}

return_codes! {
    /// The reason why a function of PKCS#11 failed, one for each `CKR_*` that this library returns.
    ///
    /// The values carry no details on purpose: a caller of PKCS#11 sees a number, and details could show a secret.
    HostMemory: CKR_HOST_MEMORY = 0x2, "the process has too little memory";
    SlotIdInvalid: CKR_SLOT_ID_INVALID = 0x3, "there is no such slot";
    GeneralError: CKR_GENERAL_ERROR = 0x5, "the library cannot recover from an error";
    FunctionFailed: CKR_FUNCTION_FAILED = 0x6, "the function could not be performed";
    ArgumentsBad: CKR_ARGUMENTS_BAD = 0x7, "an argument is wrong";
    NoEvent: CKR_NO_EVENT = 0x8, "there is no new slot event";
    AttributeReadOnly: CKR_ATTRIBUTE_READ_ONLY = 0x10, "the attribute cannot be set or changed";
    AttributeSensitive: CKR_ATTRIBUTE_SENSITIVE = 0x11, "the attribute is sensitive or the key is not extractable";
    AttributeTypeInvalid: CKR_ATTRIBUTE_TYPE_INVALID = 0x12, "the object has no such attribute";
    AttributeValueInvalid: CKR_ATTRIBUTE_VALUE_INVALID = 0x13, "the value does not fit the attribute";
    ActionProhibited: CKR_ACTION_PROHIBITED = 0x1b, "an attribute of the object forbids the action";
    DataInvalid: CKR_DATA_INVALID = 0x20, "the data do not fit the mechanism";
    DataLenRange: CKR_DATA_LEN_RANGE = 0x21, "the length of the data does not fit the mechanism";
    DeviceError: CKR_DEVICE_ERROR = 0x30, "the token failed";
    DeviceMemory: CKR_DEVICE_MEMORY = 0x31, "the token has too little space";
    DeviceRemoved: CKR_DEVICE_REMOVED = 0x32, "the token went away";
    EncryptedDataInvalid: CKR_ENCRYPTED_DATA_INVALID = 0x40, "the ciphertext is not valid";
    EncryptedDataLenRange: CKR_ENCRYPTED_DATA_LEN_RANGE = 0x41, "the length of the ciphertext does not fit the mechanism";
    AeadDecryptFailed: CKR_AEAD_DECRYPT_FAILED = 0x42, "the authentication tag does not verify";
    FunctionCanceled: CKR_FUNCTION_CANCELED = 0x50, "the function was cancelled";
    FunctionNotParallel: CKR_FUNCTION_NOT_PARALLEL = 0x51, "no function runs in parallel in the session";
    FunctionNotSupported: CKR_FUNCTION_NOT_SUPPORTED = 0x54, "the function is not supported";
    KeyHandleInvalid: CKR_KEY_HANDLE_INVALID = 0x60, "there is no such key";
    KeySizeRange: CKR_KEY_SIZE_RANGE = 0x62, "the size of the key does not fit the mechanism";
    KeyTypeInconsistent: CKR_KEY_TYPE_INCONSISTENT = 0x63, "the type of the key does not fit the mechanism";
    KeyFunctionNotPermitted: CKR_KEY_FUNCTION_NOT_PERMITTED = 0x68, "the attributes of the key forbid the function";
    KeyNotWrappable: CKR_KEY_NOT_WRAPPABLE = 0x69, "the mechanism cannot wrap the key";
    KeyUnextractable: CKR_KEY_UNEXTRACTABLE = 0x6a, "the key is not extractable";
    KeyIndigestible: CKR_KEY_INDIGESTIBLE = 0x67, "the key cannot be digested";
    MechanismInvalid: CKR_MECHANISM_INVALID = 0x70, "the mechanism is not available for the function";
    MechanismParamInvalid: CKR_MECHANISM_PARAM_INVALID = 0x71, "the parameter of the mechanism is wrong";
    ObjectHandleInvalid: CKR_OBJECT_HANDLE_INVALID = 0x82, "there is no such object";
    OperationActive: CKR_OPERATION_ACTIVE = 0x90, "another operation is active in the session";
    OperationNotInitialized: CKR_OPERATION_NOT_INITIALIZED = 0x91, "no such operation is active in the session";
    PinIncorrect: CKR_PIN_INCORRECT = 0xa0, "the PIN is wrong";
    PinLenRange: CKR_PIN_LEN_RANGE = 0xa2, "the PIN is too short or too long";
    PinLocked: CKR_PIN_LOCKED = 0xa4, "the PIN is locked after too many wrong tries";
    SessionCount: CKR_SESSION_COUNT = 0xb1, "too many sessions are open";
    SessionHandleInvalid: CKR_SESSION_HANDLE_INVALID = 0xb3, "there is no such session";
    SessionParallelNotSupported: CKR_SESSION_PARALLEL_NOT_SUPPORTED = 0xb4, "the flag CKF_SERIAL_SESSION is missing";
    SessionReadOnly: CKR_SESSION_READ_ONLY = 0xb5, "the session is read-only";
    SessionExists: CKR_SESSION_EXISTS = 0xb6, "a session is open";
    SessionReadOnlyExists: CKR_SESSION_READ_ONLY_EXISTS = 0xb7, "a read-only session is open";
    SessionReadWriteSoExists: CKR_SESSION_READ_WRITE_SO_EXISTS = 0xb8, "a session of the security officer is open";
    SignatureInvalid: CKR_SIGNATURE_INVALID = 0xc0, "the signature does not verify";
    SignatureLenRange: CKR_SIGNATURE_LEN_RANGE = 0xc1, "the signature has another length than the mechanism makes";
    TemplateIncomplete: CKR_TEMPLATE_INCOMPLETE = 0xd0, "the template lacks an attribute";
    TemplateInconsistent: CKR_TEMPLATE_INCONSISTENT = 0xd1, "the attributes of the template contradict each other";
    TokenNotPresent: CKR_TOKEN_NOT_PRESENT = 0xe0, "there is no token in the slot";
    TokenNotRecognized: CKR_TOKEN_NOT_RECOGNIZED = 0xe1, "the token is not recognised";
    TokenWriteProtected: CKR_TOKEN_WRITE_PROTECTED = 0xe2, "the token is write-protected";
    UnwrappingKeyHandleInvalid: CKR_UNWRAPPING_KEY_HANDLE_INVALID = 0xf0, "there is no such unwrapping key";
    UnwrappingKeyTypeInconsistent: CKR_UNWRAPPING_KEY_TYPE_INCONSISTENT = 0xf2, "the type of the unwrapping key does not fit the mechanism";
    UserAlreadyLoggedIn: CKR_USER_ALREADY_LOGGED_IN = 0x100, "the user is logged in already";
    UserNotLoggedIn: CKR_USER_NOT_LOGGED_IN = 0x101, "the user is not logged in";
    UserPinNotInitialized: CKR_USER_PIN_NOT_INITIALIZED = 0x102, "the user's PIN is not set";
    UserTypeInvalid: CKR_USER_TYPE_INVALID = 0x103, "there is no such user type";
    UserAnotherAlreadyLoggedIn: CKR_USER_ANOTHER_ALREADY_LOGGED_IN = 0x104, "another user is logged in";
    WrappedKeyInvalid: CKR_WRAPPED_KEY_INVALID = 0x110, "the wrapped key is not valid";
    WrappingKeyHandleInvalid: CKR_WRAPPING_KEY_HANDLE_INVALID = 0x113, "there is no such wrapping key";
    WrappingKeyTypeInconsistent: CKR_WRAPPING_KEY_TYPE_INCONSISTENT = 0x115, "the type of the wrapping key does not fit the mechanism";
    RandomSeedNotSupported: CKR_RANDOM_SEED_NOT_SUPPORTED = 0x120, "the generator takes no seed";
    RandomNoRng: CKR_RANDOM_NO_RNG = 0x121, "there is no random generator";
    DomainParamsInvalid: CKR_DOMAIN_PARAMS_INVALID = 0x130, "the domain parameters are not supported";
    CurveNotSupported: CKR_CURVE_NOT_SUPPORTED = 0x140, "the curve is not supported";
    BufferTooSmall: CKR_BUFFER_TOO_SMALL = 0x150, "the output buffer is too small";
    SavedStateInvalid: CKR_SAVED_STATE_INVALID = 0x160, "the saved state is not valid";
    StateUnsaveable: CKR_STATE_UNSAVEABLE = 0x180, "the state of the operation cannot be saved";
    CryptokiNotInitialized: CKR_CRYPTOKI_NOT_INITIALIZED = 0x190, "the library is not initialised";
    CryptokiAlreadyInitialized: CKR_CRYPTOKI_ALREADY_INITIALIZED = 0x191, "the library is initialised already";
    TokenResourceExceeded: CKR_TOKEN_RESOURCE_EXCEEDED = 0x201, "the token is overloaded";
    Pending: CKR_PENDING = 0x204, "the operation has not finished yet";
}

impl ReturnCode {
    /// Returns the value of `CK_RV`.
    #[must_use]
    pub fn value(self) -> u64 {
        self as u64
    }

    /// Returns the value of `CK_RV` for a result: 0 is `CKR_OK`.
    #[must_use]
    pub fn value_of<T>(result: &Result<T, Self>) -> u64 {
        result.as_ref().err().map_or(0, |code| code.value())
    }
}
