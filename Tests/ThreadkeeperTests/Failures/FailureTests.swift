import KeychainCore
import LocalAPI
import TestKit
import Testing
import ThreadRequests

@testable import Threadkeeper

@Suite("Failures of the local API") struct FailedTests {
  struct Other: Error {}

  @Test(
    "Whatever is thrown has its code and its exit status",
    arguments: [
      (CommandFailure(.usage, "no"), "invalid_payload", 64),
      (CommandFailure(.badInput, "no", code: .invalidPayload), "invalid_payload", 65),
      (KeychainError(.decode, "damaged"), "store", 65), (CommandFailure(.noInput, "no"), "not_found", 66),
      (CommandFailure(.configuration, "no"), "conflict", 78), (CommandFailure(.temporary, "no"), "ending", 75),
      (CancellationError(), "ending", 75), (KeychainError(.authFailed, "no"), "refused", 77),
      (CommandFailure(.noInput, "no", code: .staleID), "stale_id", 66), (SocketError(.tooLarge, "no"), "too_large", 74),
      (Other(), "internal", 70),
    ] as [(any Error, String, Int32)]) func codes(error: any Error, code: String, exit: Int32)
  {
    let answer = VarlinkError(failing: error)
    #expect(answer.name == "io.threadkeeper.Failed")
    #expect(answer.code == code)
    #expect(AnswerFailure(answer)?.exit == exit)
    #expect(answer.commandFailure.status.rawValue == exit)
  }

  @Test("Each code of an answer has its exit status") func answers() {
    let codes = Dictionary(grouping: AnswerCode.allCases) { AnswerFailure($0, "no").commandFailure.status.rawValue }
    #expect(
      codes == [
        64: [.invalidPayload], 65: [.incompleteDataset, .badDataset, .damagedCredentials], 66: [.staleID, .notFound],
        69: [.unsupported], 74: [.readOnly, .tooLarge, .store], 75: [.conflict, .rateLimited, .expired, .ending],
        77: [.notAuthorized, .notEnrolled, .consentRequired, .consentDenied, .consentExpired, .tooManyRouters],
      ])
  }

  @Test("A command fails with what the daemon has failed with, also after the way over the socket")
  func commandFailure() throws {
    for failure in [
      CommandFailure(.noInput, "there is none", remedy: "look"), CommandFailure(.inputOutput, "the disk is full"),
    ] {
      let sent = VarlinkError(failing: failure).encoded()
      let received = #expect(throws: VarlinkError.self) { try VarlinkReply<VarlinkNothing>(reading: sent) }
      #expect(received?.commandFailure == failure)
    }
  }

  @Test("An answer that is not of this version says what to do") func otherVersions() {
    for error in [
      VarlinkError.methodNotFound("Get"), .interfaceNotFound("io.threadkeeper.New"), .invalidParameter("team"),
      VarlinkError("io.threadkeeper.Failed"),
    ] {
      #expect(error.commandFailure.status == .software)
      #expect(error.commandFailure.remedy?.contains("another version") == true)
    }
    #expect(VarlinkError.permissionDenied.commandFailure.status == .notPermitted)
    #expect(VarlinkError.tooManyConnections.commandFailure.status == .temporary)
  }
}

@Suite("Failures of the keychain") struct KeychainFailureTests {
  private func failure(_ body: () throws -> Void) throws -> CommandFailure {
    do { try body() } catch let error as KeychainError { return CommandFailure(error) }
    throw KeychainError(.internalError, "nothing was refused")
  }

  @Test func whatMayGoWellAtAnotherTimeEndsWith75() throws {
    let store = try TemporaryStore()
    let keychain = store.keychain
    let inUse = try failure { _ = try Keychain.open(at: store.location, with: store.keyFile) }
    #expect(inUse.status == .temporary && inUse.remedy?.contains("stop it") == true)
    let beside = try store.openBeside()
    try keychain.rotateKeys([store.keyFile])
    let outdated = try failure { _ = try beside.database.read { try beside.items(matching: ItemQuery(), in: $0) } }
    #expect(outdated.status == .temporary && outdated.message.contains("open it again"))
  }

  @Test func whatTimeDoesNotMendEndsWith77() throws {
    for error in [
      KeychainError(.notAvailable, "the device key is missing"), KeychainError(.authFailed, "no key slot opens"),
    ] { #expect(CommandFailure(error).status == .notPermitted) }
  }
}

@Suite("The same command as another user") struct SameCommandTests {
  private func advice(_ argument: String) -> String {
    SameCommand.by(
      arguments: ["threadkeeper", "--config", "my.yaml", "preferred", "check", argument], environment: [:])
  }

  @Test("A dataset is not repeated, also where something else stands beside it", arguments: ["", "\r", " ", "\n", "x"])
  func dataset(beside: String) {
    let dataset = String(repeating: "0e08", count: 12)
    for argument in [
      dataset + beside, beside + dataset, "0x" + dataset, dataset + beside + dataset, "--dataset=" + dataset + beside,
    ] { #expect(advice(argument) == "sudo threadkeeper --config my.yaml preferred check DATASET") }
  }

  @Test(
    "The code of a border router is not repeated", arguments: [["916371366"], ["916 371-366"], ["916", "371", "366"]])
  func code(words: [String]) {
    let advice = SameCommand.by(arguments: ["threadkeeper", "networks", "join"] + words + ["--json"], environment: [:])
    let hidden = words.map { _ in "CODE" }.joined(separator: " ")
    #expect(advice == "sudo threadkeeper networks join \(hidden) --json")
  }

  @Test("The id of a border router is repeated, also where it has digits only") func router() {
    let words = ["networks", "join", "--router", "1122334455667788", "916371366"]
    let advice = SameCommand.by(arguments: ["threadkeeper"] + words, environment: [:])
    #expect(advice == "sudo threadkeeper networks join --router 1122334455667788 CODE")
  }

  @Test("Ids and places are repeated") func others() {
    for argument in [String(repeating: "0e08", count: 8), "a1b2c3d4e5f60718", "/var/lib/a-b"] {
      #expect(advice(argument).hasSuffix(" check \(argument)"))
    }
  }
}
