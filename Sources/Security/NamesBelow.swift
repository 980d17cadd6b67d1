// The only file that imports the keychain itself, and what is beside it. Packages that ask `#if canImport(Security)` find
// this module in any build that they share with it, but not the C libraries below it: so the import
// has to stay out of the module file, and `internal import` does not do that. The compiler's
// warning concerns values of hidden types within public ones, and there are none: public types
// here have fields of the standard library and Foundation, or references to classes.
@_implementationOnly import KeychainCore
@_implementationOnly import ThreadkeeperSupport

typealias AccessControl = KeychainCore.AccessControl
typealias AccessGroups = KeychainCore.AccessGroups
typealias Accessibility = KeychainCore.Accessibility
typealias AttributeValue = KeychainCore.AttributeValue
typealias AuthenticationUI = KeychainCore.AuthenticationUI
typealias FoundItem = KeychainCore.FoundItem
typealias HarmlessText = ThreadkeeperSupport.HarmlessText
typealias ItemAttribute = KeychainCore.ItemAttribute
typealias ItemAttributes = KeychainCore.ItemAttributes
typealias ItemClass = KeychainCore.ItemClass
typealias ItemReference = KeychainCore.ItemReference
typealias ItemRequest = KeychainCore.ItemRequest
typealias ItemSecret = KeychainCore.ItemSecret
typealias KeySlotSecret = KeychainCore.KeySlotSecret
typealias Keychain = KeychainCore.Keychain
typealias KeychainCall = KeychainCore.KeychainCall
typealias KeychainClient = KeychainCore.KeychainClient
typealias KeychainError = KeychainCore.KeychainError
typealias KeychainOptions = KeychainCore.KeychainOptions
typealias KeychainStatus = KeychainCore.KeychainStatus
typealias Locked = KeychainCore.Guarded
typealias MatchLimit = KeychainCore.MatchLimit
typealias RequestClass = KeychainCore.RequestClass
typealias ResultShape = KeychainCore.ResultShape
typealias StoreLocation = KeychainCore.StoreLocation
typealias SystemRandom = KeychainCore.SystemRandom
typealias TerminalConsent = ThreadkeeperSupport.TerminalConsent
