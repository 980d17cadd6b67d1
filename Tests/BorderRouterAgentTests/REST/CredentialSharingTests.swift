import Home
import TestKit
import Testing
import ThreadDataset

@testable import BorderRouterAgent

@Suite("Credential sharing") struct CredentialSharingTests {
  private let router: RecordedRouter
  private let network: ExtendedPANID

  init() throws {
    router = try RecordedRouter("leader")
    network = try #require(try router.report().network)
  }

  private func start(_ change: (inout RecordedRouter) -> Void) throws -> (
    result: Result<CredentialSharing, CredentialSharing.Obstacle>, changes: [String]
  ) {
    var router = router
    router.answer("/node/ba-epskc/state", 200)
    router.answer("/node/ba-epskc/key", 200, #"{"tap":"123456789","port":49152}"#)
    change(&router)
    var changes: [String] = []
    do throws(CredentialSharing.Obstacle) {
      let sharing = try CredentialSharing.start(on: network, minutes: 2) { request throws(HTTPFailure) in
        if request.method != .get { changes.append("\(request) \(String(decoding: request.body, as: UTF8.self))") }
        guard let answer = router.answers[request.path] else { throw .timeout }
        return answer
      }
      return (.success(sharing), changes)
    } catch { return (.failure(error), changes) }
  }

  @Test("It is enabled, a code is asked for, and the code is returned with the network") func code() throws {
    let (result, changes) = try start { _ in }
    let sharing = try result.get()
    #expect(sharing.code == "123456789" && sharing.network == network)
    #expect(try sharing.agent == router.report().agent)
    #expect(changes == ["PUT /node/ba-epskc/state \"enable\"", "POST /node/ba-epskc/key {\"lifetime\":120000}"])
    #expect(
      try start { $0.answer("/node/ba-epskc/key", 201, #"{"Tap":"123456789"}"#) }.result.get().code == "123456789")
  }

  @Test(
    "Where the router gives none, it is said why",
    arguments: [
      ("state", 404, "", .notOffered(404), 1), ("state", 500, "", .unexpected("it answers 500"), 1),
      ("key", 405, "", .notOffered(405), 2), ("key", 409, "", .inUse, 2), ("key", 200, "", none, 2),
      ("key", 200, "[]", none, 2), ("key", 200, #"{"tap":123456789}"#, none, 2),
      ("key", 200, #"{"tap":"12345678"}"#, none, 2), ("key", 200, #"{"tap":"12345678x"}"#, none, 2),
    ] as [(String, Int, String, CredentialSharing.Obstacle, Int)]) func refused(
      path: String, status: Int, body: String, obstacle: CredentialSharing.Obstacle, changes: Int
    ) throws
  {
    let outcome = try start { $0.answer("/node/ba-epskc/\(path)", status, body) }
    #expect(outcome.result == .failure(obstacle) && outcome.changes.count == changes)
  }

  private static let none = CredentialSharing.Obstacle.unexpected("its answer has none of 9 digits")

  @Test("A router that is detached, on another network or silent is not asked for a code") func unfit() throws {
    func check(_ state: String, _ obstacle: CredentialSharing.Obstacle) throws {
      let other = try RecordedRouter(state)
      let outcome = try start { $0.answers.merge(other.answers) { $1 } }
      #expect(outcome.result == .failure(obstacle) && outcome.changes.isEmpty, "\(outcome)")
    }
    try check("stopped", .detached(.disabled))
    let elsewhere = try RecordedRouter("elsewhere").report()
    try check("elsewhere", .otherNetwork(elsewhere.network, name: elsewhere.networkName))
    #expect(try start { $0.answers["/node"] = nil }.result == .failure(.silent(.frozen)))
    let untrusted = CredentialSharing.Obstacle.silent(.untrusted("a program of user 7 listens on port 8081"))
    #expect(!untrusted.description.contains("--router-user"))
  }
}
