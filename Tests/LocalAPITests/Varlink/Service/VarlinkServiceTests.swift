import Glibc
import Testing

@testable import LocalAPI

@Suite("A table of endpoints") struct VarlinkServiceTests {
  private let service = SampleService().service

  private func answer(
    _ method: String, _ parameters: String = "{}", _ flag: String = "", access: VarlinkAccess = .admitted
  ) throws -> String {
    let text = "{\"method\":\"\(method)\",\"parameters\":\(parameters)\(flag)}"
    let reply = service.answer(try VarlinkCall(reading: Array(text.utf8)), from: try caller(access))
    return String(decoding: reply, as: UTF8.self)
  }

  private func caller(_ access: VarlinkAccess) throws -> VarlinkCaller {
    let peer = try #require(SocketPeer.ofThisProcess)
    return try VarlinkCaller(-1, peer: peer, access: access, limits: VarlinkLimits())
  }

  @Test(
    "What cannot be called is answered with an error of org.varlink.service",
    arguments: [
      ("org.example.other.Ping", "{}", "", VarlinkError.interfaceNotFound("org.example.other")),
      ("Ping", "{}", "", .interfaceNotFound("")), ("org.example.sample.Other", "{}", "", .methodNotFound("Other")),
      ("org.example.sample.", "{}", "", .methodNotFound("")),
      ("org.example.sample.Commented", "{}", "", .methodNotFound("Commented")),
      ("org.example.sample.Planned", "{}", "", .methodNotImplemented("Planned")),
      ("org.example.sample.Ping", "{}", "", .invalidParameter("text")),
      ("org.example.sample.Fill", "{\"byte_count\":\"x\"}", "", .invalidParameter("byte_count")),
      ("org.example.sample.Ping", "{\"text\":\"a\"}", ",\"upgrade\":true", .methodNotImplemented("Ping")),
      ("org.example.sample.Count", "{\"number\":1}", "", .expectedMore),
      ("org.example.sample.Team", "{}", "", .permissionDenied),
      ("org.example.sample.Owner", "{}", "", .permissionDenied),
      ("org.varlink.service.GetInterfaceDescription", "{}", "", .invalidParameter("interface")),
      ("org.varlink.service.GetInterfaceDescription", "{\"interface\":\"a.b\"}", "", .interfaceNotFound("a.b")),
    ]) func errors(method: String, parameters: String, flag: String, error: VarlinkError) throws
  { #expect(try answer(method, parameters, flag) == String(decoding: error.encoded(), as: UTF8.self)) }

  @Test(
    "A class of callers may call what the classes below it may",
    arguments: [(VarlinkAccess.admitted, false, false), (.team, true, false), (.owner, true, true)]) func access(
      access: VarlinkAccess, isTeam: Bool, isOwner: Bool
    ) throws
  {
    let none = "{\"parameters\":{}}"
    #expect((try answer("org.example.sample.Team", access: access) == none) == isTeam)
    #expect((try answer("org.example.sample.Owner", access: access) == none) == isOwner)
  }

  @Test("The gate is asked about each call before it is read, and told the first one") func gate() throws {
    let service = VarlinkService(
      .init(vendor: "a", product: "a", version: "1", url: ""), interfaces: [], endpoints: [],
      gate: { $1 ? nil : VarlinkError("org.example.Late") }, failure: { _ in VarlinkError("org.example.Failed") })
    let caller = try caller(.owner)
    #expect(service.refusal(ofCallBy: caller, isFirst: true) == nil)
    #expect(service.refusal(ofCallBy: caller, isFirst: false)?.name == "org.example.Late")
  }

  @Test("A service says what it is, and describes its interfaces") func introspection() throws {
    #expect(
      try answer("org.varlink.service.GetInfo") == """
        {"parameters":{"interfaces":["org.varlink.service","org.example.sample"],\
        "product":"Sample","url":"https://example.org","vendor":"Example","version":"1"}}
        """)
    let description = try answer(
      "org.varlink.service.GetInterfaceDescription", "{\"interface\":\"org.example.sample\"}")
    #expect(description.contains("method Ping(text: string) -> (text: string)"))
  }

  @Test("What a handler throws is answered: its own error, or what the service makes of another one") func failures()
    throws
  {
    #expect(
      try answer("org.example.sample.Fail", "{\"text\":\"no\"}")
        == "{\"error\":\"org.example.sample.Failed\",\"parameters\":{\"message\":\"no\"}}")
  }

  @Test("Every method of the standard interface is registered, and every registered one described") func complete() {
    #expect(VarlinkInterface.service.name == "org.varlink.service")
    #expect(VarlinkInterface.service.methods == ["GetInfo", "GetInterfaceDescription"])
    #expect(
      service.endpoints.filter { $0.interface == "org.varlink.service" }.map(\.name) == VarlinkInterface.service.methods
    )
    let described = SampleService.interface.methods
    let registered = service.endpoints.filter { $0.interface == SampleService.name }.map(\.name)
    #expect(Set(described).subtracting(registered) == ["Planned"])
    #expect(Set(registered).isSubset(of: described))
  }
}

extension SocketPeer {
  /// The kernel's word for a socket that this process has with itself.
  static var ofThisProcess: SocketPeer? {
    var pair: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0 else { return nil }
    defer { for end in pair { close(end) } }
    return SocketPeer(pair[0])
  }
}
