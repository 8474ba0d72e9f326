//! Return values: the errors of PKCS#11, `CKR_*` of version 3.2.

/// The reason why a function of PKCS#11 failed, one for each `CKR_*` that this library returns.
///
/// The values carry no details on purpose: a caller of PKCS#11 sees a number, and details could show a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
#[repr(u64)]
pub enum ReturnCode {
    /// `CKR_CANCEL`.
    #[error("CKR_CANCEL: the function was cancelled")]
    Cancel = 0x1,
    /// `CKR_HOST_MEMORY`.
    #[error("CKR_HOST_MEMORY: the process has too little memory")]
    HostMemory = 0x2,
    /// `CKR_SLOT_ID_INVALID`.
    #[error("CKR_SLOT_ID_INVALID: there is no such slot")]
    SlotIdInvalid = 0x3,
    /// `CKR_GENERAL_ERROR`.
    #[error("CKR_GENERAL_ERROR: the library cannot recover from an error")]
    GeneralError = 0x5,
    /// `CKR_FUNCTION_FAILED`.
    #[error("CKR_FUNCTION_FAILED: the function could not be performed")]
    FunctionFailed = 0x6,
    /// `CKR_ARGUMENTS_BAD`.
    #[error("CKR_ARGUMENTS_BAD: an argument is wrong")]
    ArgumentsBad = 0x7,
    /// `CKR_NO_EVENT`.
    #[error("CKR_NO_EVENT: there is no new slot event")]
    NoEvent = 0x8,
    /// `CKR_NEED_TO_CREATE_THREADS`.
    #[error("CKR_NEED_TO_CREATE_THREADS: the library needs threads of its own")]
    NeedToCreateThreads = 0x9,
    /// `CKR_CANT_LOCK`.
    #[error("CKR_CANT_LOCK: the library cannot lock as asked")]
    CantLock = 0xa,
    /// `CKR_ATTRIBUTE_READ_ONLY`.
    #[error("CKR_ATTRIBUTE_READ_ONLY: the attribute cannot be set or changed")]
    AttributeReadOnly = 0x10,
    /// `CKR_ATTRIBUTE_SENSITIVE`.
    #[error("CKR_ATTRIBUTE_SENSITIVE: the attribute is sensitive or the key is not extractable")]
    AttributeSensitive = 0x11,
    /// `CKR_ATTRIBUTE_TYPE_INVALID`.
    #[error("CKR_ATTRIBUTE_TYPE_INVALID: the object has no such attribute")]
    AttributeTypeInvalid = 0x12,
    /// `CKR_ATTRIBUTE_VALUE_INVALID`.
    #[error("CKR_ATTRIBUTE_VALUE_INVALID: the value does not fit the attribute")]
    AttributeValueInvalid = 0x13,
    /// `CKR_ACTION_PROHIBITED`.
    #[error("CKR_ACTION_PROHIBITED: an attribute of the object forbids the action")]
    ActionProhibited = 0x1b,
    /// `CKR_DATA_INVALID`.
    #[error("CKR_DATA_INVALID: the data do not fit the mechanism")]
    DataInvalid = 0x20,
    /// `CKR_DATA_LEN_RANGE`.
    #[error("CKR_DATA_LEN_RANGE: the length of the data does not fit the mechanism")]
    DataLenRange = 0x21,
    /// `CKR_DEVICE_ERROR`.
    #[error("CKR_DEVICE_ERROR: the token failed")]
    DeviceError = 0x30,
    /// `CKR_DEVICE_MEMORY`.
    #[error("CKR_DEVICE_MEMORY: the token has too little space")]
    DeviceMemory = 0x31,
    /// `CKR_DEVICE_REMOVED`.
    #[error("CKR_DEVICE_REMOVED: the token went away")]
    DeviceRemoved = 0x32,
    /// `CKR_ENCRYPTED_DATA_INVALID`.
    #[error("CKR_ENCRYPTED_DATA_INVALID: the ciphertext is not valid")]
    EncryptedDataInvalid = 0x40,
    /// `CKR_ENCRYPTED_DATA_LEN_RANGE`.
    #[error("CKR_ENCRYPTED_DATA_LEN_RANGE: the length of the ciphertext does not fit the mechanism")]
    EncryptedDataLenRange = 0x41,
    /// `CKR_AEAD_DECRYPT_FAILED`.
    #[error("CKR_AEAD_DECRYPT_FAILED: the authentication tag does not verify")]
    AeadDecryptFailed = 0x42,
    /// `CKR_FUNCTION_CANCELED`.
    #[error("CKR_FUNCTION_CANCELED: the function was cancelled")]
    FunctionCanceled = 0x50,
    /// `CKR_FUNCTION_NOT_PARALLEL`.
    #[error("CKR_FUNCTION_NOT_PARALLEL: no function runs in parallel in the session")]
    FunctionNotParallel = 0x51,
    /// `CKR_FUNCTION_NOT_SUPPORTED`.
    #[error("CKR_FUNCTION_NOT_SUPPORTED: the function is not supported")]
    FunctionNotSupported = 0x54,
    /// `CKR_KEY_HANDLE_INVALID`.
    #[error("CKR_KEY_HANDLE_INVALID: there is no such key")]
    KeyHandleInvalid = 0x60,
    /// `CKR_KEY_SIZE_RANGE`.
    #[error("CKR_KEY_SIZE_RANGE: the size of the key does not fit the mechanism")]
    KeySizeRange = 0x62,
    /// `CKR_KEY_TYPE_INCONSISTENT`.
    #[error("CKR_KEY_TYPE_INCONSISTENT: the type of the key does not fit the mechanism")]
    KeyTypeInconsistent = 0x63,
    /// `CKR_KEY_FUNCTION_NOT_PERMITTED`.
    #[error("CKR_KEY_FUNCTION_NOT_PERMITTED: the attributes of the key forbid the function")]
    KeyFunctionNotPermitted = 0x68,
    /// `CKR_KEY_NOT_WRAPPABLE`.
    #[error("CKR_KEY_NOT_WRAPPABLE: the mechanism cannot wrap the key")]
    KeyNotWrappable = 0x69,
    /// `CKR_KEY_UNEXTRACTABLE`.
    #[error("CKR_KEY_UNEXTRACTABLE: the key is not extractable")]
    KeyUnextractable = 0x6a,
    /// `CKR_KEY_INDIGESTIBLE`.
    #[error("CKR_KEY_INDIGESTIBLE: the key cannot be digested")]
    KeyIndigestible = 0x67,
    /// `CKR_MECHANISM_INVALID`.
    #[error("CKR_MECHANISM_INVALID: the mechanism is not available for the function")]
    MechanismInvalid = 0x70,
    /// `CKR_MECHANISM_PARAM_INVALID`.
    #[error("CKR_MECHANISM_PARAM_INVALID: the parameter of the mechanism is wrong")]
    MechanismParamInvalid = 0x71,
    /// `CKR_OBJECT_HANDLE_INVALID`.
    #[error("CKR_OBJECT_HANDLE_INVALID: there is no such object")]
    ObjectHandleInvalid = 0x82,
    /// `CKR_OPERATION_ACTIVE`.
    #[error("CKR_OPERATION_ACTIVE: another operation is active in the session")]
    OperationActive = 0x90,
    /// `CKR_OPERATION_NOT_INITIALIZED`.
    #[error("CKR_OPERATION_NOT_INITIALIZED: no such operation is active in the session")]
    OperationNotInitialized = 0x91,
    /// `CKR_PIN_INCORRECT`.
    #[error("CKR_PIN_INCORRECT: the PIN is wrong")]
    PinIncorrect = 0xa0,
    /// `CKR_PIN_INVALID`.
    #[error("CKR_PIN_INVALID: the PIN has characters that are not allowed")]
    PinInvalid = 0xa1,
    /// `CKR_PIN_LEN_RANGE`.
    #[error("CKR_PIN_LEN_RANGE: the PIN is too short or too long")]
    PinLenRange = 0xa2,
    /// `CKR_PIN_EXPIRED`.
    #[error("CKR_PIN_EXPIRED: the PIN has expired")]
    PinExpired = 0xa3,
    /// `CKR_PIN_LOCKED`.
    #[error("CKR_PIN_LOCKED: the PIN is locked after too many wrong tries")]
    PinLocked = 0xa4,
    /// `CKR_SESSION_CLOSED`.
    #[error("CKR_SESSION_CLOSED: the session was closed during the call")]
    SessionClosed = 0xb0,
    /// `CKR_SESSION_COUNT`.
    #[error("CKR_SESSION_COUNT: too many sessions are open")]
    SessionCount = 0xb1,
    /// `CKR_SESSION_HANDLE_INVALID`.
    #[error("CKR_SESSION_HANDLE_INVALID: there is no such session")]
    SessionHandleInvalid = 0xb3,
    /// `CKR_SESSION_PARALLEL_NOT_SUPPORTED`.
    #[error("CKR_SESSION_PARALLEL_NOT_SUPPORTED: the flag CKF_SERIAL_SESSION is missing")]
    SessionParallelNotSupported = 0xb4,
    /// `CKR_SESSION_READ_ONLY`.
    #[error("CKR_SESSION_READ_ONLY: the session is read-only")]
    SessionReadOnly = 0xb5,
    /// `CKR_SESSION_EXISTS`.
    #[error("CKR_SESSION_EXISTS: a session is open")]
    SessionExists = 0xb6,
    /// `CKR_SESSION_READ_ONLY_EXISTS`.
    #[error("CKR_SESSION_READ_ONLY_EXISTS: a read-only session is open")]
    SessionReadOnlyExists = 0xb7,
    /// `CKR_SESSION_READ_WRITE_SO_EXISTS`.
    #[error("CKR_SESSION_READ_WRITE_SO_EXISTS: a session of the security officer is open")]
    SessionReadWriteSoExists = 0xb8,
    /// `CKR_SIGNATURE_INVALID`.
    #[error("CKR_SIGNATURE_INVALID: the signature does not verify")]
    SignatureInvalid = 0xc0,
    /// `CKR_SIGNATURE_LEN_RANGE`.
    #[error("CKR_SIGNATURE_LEN_RANGE: the signature has another length than the mechanism makes")]
    SignatureLenRange = 0xc1,
    /// `CKR_TEMPLATE_INCOMPLETE`.
    #[error("CKR_TEMPLATE_INCOMPLETE: the template lacks an attribute")]
    TemplateIncomplete = 0xd0,
    /// `CKR_TEMPLATE_INCONSISTENT`.
    #[error("CKR_TEMPLATE_INCONSISTENT: the attributes of the template contradict each other")]
    TemplateInconsistent = 0xd1,
    /// `CKR_TOKEN_NOT_PRESENT`.
    #[error("CKR_TOKEN_NOT_PRESENT: there is no token in the slot")]
    TokenNotPresent = 0xe0,
    /// `CKR_TOKEN_NOT_RECOGNIZED`.
    #[error("CKR_TOKEN_NOT_RECOGNIZED: the token is not recognised")]
    TokenNotRecognized = 0xe1,
    /// `CKR_TOKEN_WRITE_PROTECTED`.
    #[error("CKR_TOKEN_WRITE_PROTECTED: the token is write-protected")]
    TokenWriteProtected = 0xe2,
    /// `CKR_TOKEN_NOT_INITIALIZED`.
    #[error("CKR_TOKEN_NOT_INITIALIZED: the token is not initialised")]
    TokenNotInitialized = 0x208,
    /// `CKR_UNWRAPPING_KEY_HANDLE_INVALID`.
    #[error("CKR_UNWRAPPING_KEY_HANDLE_INVALID: there is no such unwrapping key")]
    UnwrappingKeyHandleInvalid = 0xf0,
    /// `CKR_UNWRAPPING_KEY_SIZE_RANGE`.
    #[error("CKR_UNWRAPPING_KEY_SIZE_RANGE: the size of the unwrapping key does not fit the mechanism")]
    UnwrappingKeySizeRange = 0xf1,
    /// `CKR_UNWRAPPING_KEY_TYPE_INCONSISTENT`.
    #[error(
        "CKR_UNWRAPPING_KEY_TYPE_INCONSISTENT: the type of the unwrapping key does not fit the mechanism"
    )]
    UnwrappingKeyTypeInconsistent = 0xf2,
    /// `CKR_USER_ALREADY_LOGGED_IN`.
    #[error("CKR_USER_ALREADY_LOGGED_IN: the user is logged in already")]
    UserAlreadyLoggedIn = 0x100,
    /// `CKR_USER_NOT_LOGGED_IN`.
    #[error("CKR_USER_NOT_LOGGED_IN: the user is not logged in")]
    UserNotLoggedIn = 0x101,
    /// `CKR_USER_PIN_NOT_INITIALIZED`.
    #[error("CKR_USER_PIN_NOT_INITIALIZED: the user's PIN is not set")]
    UserPinNotInitialized = 0x102,
    /// `CKR_USER_TYPE_INVALID`.
    #[error("CKR_USER_TYPE_INVALID: there is no such user type")]
    UserTypeInvalid = 0x103,
    /// `CKR_USER_ANOTHER_ALREADY_LOGGED_IN`.
    #[error("CKR_USER_ANOTHER_ALREADY_LOGGED_IN: another user is logged in")]
    UserAnotherAlreadyLoggedIn = 0x104,
    /// `CKR_USER_TOO_MANY_TYPES`.
    #[error("CKR_USER_TOO_MANY_TYPES: too many users are logged in")]
    UserTooManyTypes = 0x105,
    /// `CKR_WRAPPED_KEY_INVALID`.
    #[error("CKR_WRAPPED_KEY_INVALID: the wrapped key is not valid")]
    WrappedKeyInvalid = 0x110,
    /// `CKR_WRAPPED_KEY_LEN_RANGE`.
    #[error("CKR_WRAPPED_KEY_LEN_RANGE: the length of the wrapped key does not fit")]
    WrappedKeyLenRange = 0x112,
    /// `CKR_WRAPPING_KEY_HANDLE_INVALID`.
    #[error("CKR_WRAPPING_KEY_HANDLE_INVALID: there is no such wrapping key")]
    WrappingKeyHandleInvalid = 0x113,
    /// `CKR_WRAPPING_KEY_SIZE_RANGE`.
    #[error("CKR_WRAPPING_KEY_SIZE_RANGE: the size of the wrapping key does not fit the mechanism")]
    WrappingKeySizeRange = 0x114,
    /// `CKR_WRAPPING_KEY_TYPE_INCONSISTENT`.
    #[error("CKR_WRAPPING_KEY_TYPE_INCONSISTENT: the type of the wrapping key does not fit the mechanism")]
    WrappingKeyTypeInconsistent = 0x115,
    /// `CKR_RANDOM_SEED_NOT_SUPPORTED`.
    #[error("CKR_RANDOM_SEED_NOT_SUPPORTED: the generator takes no seed")]
    RandomSeedNotSupported = 0x120,
    /// `CKR_RANDOM_NO_RNG`.
    #[error("CKR_RANDOM_NO_RNG: there is no random generator")]
    RandomNoRng = 0x121,
    /// `CKR_DOMAIN_PARAMS_INVALID`.
    #[error("CKR_DOMAIN_PARAMS_INVALID: the domain parameters are not supported")]
    DomainParamsInvalid = 0x130,
    /// `CKR_CURVE_NOT_SUPPORTED`.
    #[error("CKR_CURVE_NOT_SUPPORTED: the curve is not supported")]
    CurveNotSupported = 0x140,
    /// `CKR_BUFFER_TOO_SMALL`.
    #[error("CKR_BUFFER_TOO_SMALL: the output buffer is too small")]
    BufferTooSmall = 0x150,
    /// `CKR_SAVED_STATE_INVALID`.
    #[error("CKR_SAVED_STATE_INVALID: the saved state is not valid")]
    SavedStateInvalid = 0x160,
    /// `CKR_INFORMATION_SENSITIVE`.
    #[error("CKR_INFORMATION_SENSITIVE: the information is sensitive")]
    InformationSensitive = 0x170,
    /// `CKR_STATE_UNSAVEABLE`.
    #[error("CKR_STATE_UNSAVEABLE: the state of the operation cannot be saved")]
    StateUnsaveable = 0x180,
    /// `CKR_CRYPTOKI_NOT_INITIALIZED`.
    #[error("CKR_CRYPTOKI_NOT_INITIALIZED: the library is not initialised")]
    CryptokiNotInitialized = 0x190,
    /// `CKR_CRYPTOKI_ALREADY_INITIALIZED`.
    #[error("CKR_CRYPTOKI_ALREADY_INITIALIZED: the library is initialised already")]
    CryptokiAlreadyInitialized = 0x191,
    /// `CKR_MUTEX_BAD`.
    #[error("CKR_MUTEX_BAD: the mutex is not valid")]
    MutexBad = 0x1a0,
    /// `CKR_MUTEX_NOT_LOCKED`.
    #[error("CKR_MUTEX_NOT_LOCKED: the mutex is not locked")]
    MutexNotLocked = 0x1a1,
    /// `CKR_FUNCTION_REJECTED`.
    #[error("CKR_FUNCTION_REJECTED: the user rejected the function")]
    FunctionRejected = 0x200,
    /// `CKR_TOKEN_RESOURCE_EXCEEDED`.
    #[error("CKR_TOKEN_RESOURCE_EXCEEDED: the token is overloaded")]
    TokenResourceExceeded = 0x201,
    /// `CKR_OPERATION_CANCEL_FAILED`.
    #[error("CKR_OPERATION_CANCEL_FAILED: the operation cannot be cancelled")]
    OperationCancelFailed = 0x202,
    /// `CKR_KEY_EXHAUSTED`.
    #[error("CKR_KEY_EXHAUSTED: the key has reached its maximum number of uses")]
    KeyExhausted = 0x203,
    /// `CKR_PENDING`.
    #[error("CKR_PENDING: the operation has not finished yet")]
    Pending = 0x204,
    /// `CKR_SESSION_ASYNC_NOT_SUPPORTED`.
    #[error("CKR_SESSION_ASYNC_NOT_SUPPORTED: the token has no asynchronous sessions")]
    SessionAsyncNotSupported = 0x205,
    /// `CKR_PUBLIC_KEY_INVALID`.
    #[error("CKR_PUBLIC_KEY_INVALID: the public key is not valid")]
    PublicKeyInvalid = 0x1b9,
    /// `CKR_PIN_TOO_WEAK`.
    #[error("CKR_PIN_TOO_WEAK: the PIN is too weak")]
    PinTooWeak = 0x1b8,
}

/// `CKR_OK`, which is not an error.
pub const CKR_OK: u64 = 0;

impl ReturnCode {
    /// Every return code.
    pub const ALL: &'static [Self] = &[
        Self::Cancel,
        Self::HostMemory,
        Self::SlotIdInvalid,
        Self::GeneralError,
        Self::FunctionFailed,
        Self::ArgumentsBad,
        Self::NoEvent,
        Self::NeedToCreateThreads,
        Self::CantLock,
        Self::AttributeReadOnly,
        Self::AttributeSensitive,
        Self::AttributeTypeInvalid,
        Self::AttributeValueInvalid,
        Self::ActionProhibited,
        Self::DataInvalid,
        Self::DataLenRange,
        Self::DeviceError,
        Self::DeviceMemory,
        Self::DeviceRemoved,
        Self::EncryptedDataInvalid,
        Self::EncryptedDataLenRange,
        Self::AeadDecryptFailed,
        Self::FunctionCanceled,
        Self::FunctionNotParallel,
        Self::FunctionNotSupported,
        Self::KeyHandleInvalid,
        Self::KeySizeRange,
        Self::KeyTypeInconsistent,
        Self::KeyFunctionNotPermitted,
        Self::KeyNotWrappable,
        Self::KeyUnextractable,
        Self::KeyIndigestible,
        Self::MechanismInvalid,
        Self::MechanismParamInvalid,
        Self::ObjectHandleInvalid,
        Self::OperationActive,
        Self::OperationNotInitialized,
        Self::PinIncorrect,
        Self::PinInvalid,
        Self::PinLenRange,
        Self::PinExpired,
        Self::PinLocked,
        Self::SessionClosed,
        Self::SessionCount,
        Self::SessionHandleInvalid,
        Self::SessionParallelNotSupported,
        Self::SessionReadOnly,
        Self::SessionExists,
        Self::SessionReadOnlyExists,
        Self::SessionReadWriteSoExists,
        Self::SignatureInvalid,
        Self::SignatureLenRange,
        Self::TemplateIncomplete,
        Self::TemplateInconsistent,
        Self::TokenNotPresent,
        Self::TokenNotRecognized,
        Self::TokenWriteProtected,
        Self::TokenNotInitialized,
        Self::UnwrappingKeyHandleInvalid,
        Self::UnwrappingKeySizeRange,
        Self::UnwrappingKeyTypeInconsistent,
        Self::UserAlreadyLoggedIn,
        Self::UserNotLoggedIn,
        Self::UserPinNotInitialized,
        Self::UserTypeInvalid,
        Self::UserAnotherAlreadyLoggedIn,
        Self::UserTooManyTypes,
        Self::WrappedKeyInvalid,
        Self::WrappedKeyLenRange,
        Self::WrappingKeyHandleInvalid,
        Self::WrappingKeySizeRange,
        Self::WrappingKeyTypeInconsistent,
        Self::RandomSeedNotSupported,
        Self::RandomNoRng,
        Self::DomainParamsInvalid,
        Self::CurveNotSupported,
        Self::BufferTooSmall,
        Self::SavedStateInvalid,
        Self::InformationSensitive,
        Self::StateUnsaveable,
        Self::CryptokiNotInitialized,
        Self::CryptokiAlreadyInitialized,
        Self::MutexBad,
        Self::MutexNotLocked,
        Self::FunctionRejected,
        Self::TokenResourceExceeded,
        Self::OperationCancelFailed,
        Self::KeyExhausted,
        Self::Pending,
        Self::SessionAsyncNotSupported,
        Self::PublicKeyInvalid,
        Self::PinTooWeak,
    ];

    /// Returns the value of `CK_RV`.
    #[must_use]
    pub fn value(self) -> u64 {
        self as u64
    }

    /// Returns the value of `CK_RV` for a result.
    #[must_use]
    pub fn value_of<T>(result: &Result<T, Self>) -> u64 {
        result.as_ref().err().map_or(CKR_OK, |code| code.value())
    }
}
