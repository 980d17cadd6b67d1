// SPDX-License-Identifier: Apache-2.0

// The only file that imports the keychain itself, and what is beside it. Packages that ask `#if canImport(Security)` find
// this module in any build that they share with it, but not the C libraries below it: so the import
// has to stay out of the module file, and `internal import` does not do that. The compiler's
// warning concerns values of hidden types within public ones, and there are none: public types
// here have fields of the standard library and Foundation, or references to classes.
@_implementationOnly import KeychainCore
@_implementationOnly import KeychainServices
@_implementationOnly import Terminal

typealias AccessControl = KeychainServices.AccessControl
typealias AccessGroups = KeychainServices.AccessGroups
typealias Accessibility = KeychainCore.Accessibility
typealias AttributeValue = KeychainCore.AttributeValue
typealias AuthenticationUI = KeychainServices.AuthenticationUI
typealias FoundItem = KeychainServices.FoundItem
typealias HarmlessText = Terminal.HarmlessText
typealias ItemAttribute = KeychainCore.ItemAttribute
typealias ItemAttributes = KeychainCore.ItemAttributes
typealias ItemClass = KeychainCore.ItemClass
typealias ItemRequest = KeychainServices.ItemRequest
typealias ItemSecret = KeychainServices.ItemSecret
typealias KeySlotSecret = KeychainCore.KeySlotSecret
typealias Keychain = KeychainCore.Keychain
typealias KeychainCall = KeychainServices.KeychainCall
typealias KeychainClient = KeychainServices.KeychainClient
typealias KeychainError = KeychainCore.KeychainError
typealias KeychainOptions = KeychainCore.KeychainOptions
typealias KeychainService = KeychainServices.KeychainService
typealias Locked = KeychainServices.Guarded
typealias MatchLimit = KeychainServices.MatchLimit
typealias PersistentReference = KeychainServices.PersistentReference
typealias PresenceAnswer = KeychainServices.PresenceAnswer
typealias PresenceProvider = KeychainServices.PresenceProvider
typealias PresenceQuestion = KeychainServices.PresenceQuestion
typealias RequestClass = KeychainServices.RequestClass
typealias ResultShape = KeychainServices.ResultShape
typealias StoreLocation = KeychainCore.StoreLocation
typealias SystemRandom = KeychainServices.SystemRandom
typealias TerminalConsent = Terminal.TerminalConsent
