// What is below stays out of the module file: a package that asks `#if canImport(ThreadNetwork)`
// finds this module in any build that it shares with it, but not the C libraries underneath. See the
// same in the module Security, also about the compiler's warning. The module Home has a type of its
// own name, so no name in it can be told from here: what needs it imports it likewise, and HomeStore.
@_implementationOnly import KeychainCore
@_implementationOnly import LocalAPI
@_implementationOnly import ThreadDataset
@_implementationOnly import ThreadRequests
@_implementationOnly import ThreadkeeperSupport

typealias AnswerCode = ThreadRequests.AnswerCode
typealias AnswerData = ThreadRequests.AnswerData
typealias AnswerFailure = ThreadRequests.AnswerFailure
typealias BorderAgentID = ThreadDataset.BorderAgentID
typealias CredentialRecord = ThreadRequests.CredentialRecord
typealias DatasetError = ThreadDataset.DatasetError
typealias ExtendedPANID = ThreadDataset.ExtendedPANID
typealias FilePath = ThreadkeeperSupport.FilePath
typealias HarmlessText = ThreadkeeperSupport.HarmlessText
typealias KeySlotSecret = KeychainCore.KeySlotSecret
typealias Keychain = KeychainCore.Keychain
typealias KeychainError = KeychainCore.KeychainError
typealias KeychainOptions = KeychainCore.KeychainOptions
typealias OperationalDataset = ThreadDataset.OperationalDataset
typealias SystemThread = ThreadkeeperSupport.SystemThread
typealias RecordTransaction = KeychainCore.RecordTransaction
typealias RequestCommand = ThreadRequests.RequestCommand
typealias ProgramName = ThreadRequests.ProgramName
typealias QuestionWithdrawal = ThreadkeeperSupport.QuestionWithdrawal
typealias SealedRecords = KeychainCore.SealedRecords
typealias ShownName = ThreadkeeperSupport.ShownName
typealias SocketError = LocalAPI.SocketError
typealias StateDirectory = ThreadkeeperSupport.StateDirectory
typealias SystemPlaces = ThreadkeeperSupport.SystemPlaces
typealias StoreLocation = KeychainCore.StoreLocation
typealias TerminalConsent = ThreadkeeperSupport.TerminalConsent
typealias ThreadRequest = ThreadRequests.ThreadRequest
typealias WaitingQuestion = ThreadRequests.WaitingQuestion
