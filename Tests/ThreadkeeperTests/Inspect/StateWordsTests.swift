import Bridge
import Broker
import Home
import Testing
import ThreadRequests

@testable import Threadkeeper

@Suite("Alerts for a person") struct AlertTextTests {
  private func text(_ end: JSONValue) -> String {
    AlertsListCommand.text(
      .object([
        "alertname": .text("BorderRouterOffline"), "severity": .text("warning"), "summary": .text("Attic is offline"),
        "starts_at": .text("1970-01-01T00:00:01Z"), "ends_at": end,
        "remedy": .text("Check its power, then run `threadkeeper routers`."),
      ]), style: .plain)
  }

  @Test("A firing alert says since when, a resolved one when it was resolved") func period() {
    #expect(
      text(.null) == """
        warning BorderRouterOffline (firing since 1970-01-01T00:00:01Z)
          Attic is offline
          Check its power, then run `threadkeeper routers`.

        """)
    #expect(
      text(.text("1970-01-01T00:01:01Z")).hasPrefix(
        "warning BorderRouterOffline (resolved at 1970-01-01T00:01:01Z, began at " + "1970-01-01T00:00:01Z)\n"))
  }
}

@Suite("What status says of refusals, discovery and the page") struct StatusWordsTests {
  @Test("The last topic is named, unless the problem names it already") func lastTopic() {
    var refused = Refusal()
    (refused.count, refused.topic, refused.problem, refused.remedy) = (1, "a/b", "too large", "Look into the log.")
    #expect(refused.words == "1 topic; the last, `a/b`: too large. Look into the log.")
    (refused.count, refused.problem) = (2, "a/b is too large")
    #expect(refused.words == "2 topics; the last: a/b is too large. Look into the log.")
  }

  @Test("The page has an address that can be opened, or says that a proxy shows it") func page() {
    var page = DaemonStatus.Page(.listening)
    (page.url, page.needsToken) = ("http://127.0.0.1:8423/", false)
    #expect(
      page.words == "http://127.0.0.1:8423/, read only; `threadkeeper page token` lets you change something there")
    page.needsToken = true
    let link = "http://127.0.0.1:8423/, with the link of `threadkeeper page token`"
    #expect(page.words == link)
    page.trustedProxy = "172.30.32.2"
    #expect(page.words == "\(link), or through the proxy 172.30.32.2")
    page.url = nil
    #expect(page.words == "through the proxy 172.30.32.2")
  }

  @Test("The search on the local network says how many it lists, or what to do") func discovery() {
    func of(_ state: DiscoveryState) -> String { state.words }
    #expect(of(.off) == "off (setting `discovery.mdns`)")
    #expect(of(.starting) == "starting")
    #expect(of(.running(routers: 1, unlisted: [])) == "mDNS, 1 border router")
    #expect(
      of(.running(routers: 3, unlisted: ["a", "b"].map { UnlistedRecord(name: $0, reason: "x") }))
        == "mDNS, 3 border routers; records not listed: 2")
    var reported = DiscoveryState.running(routers: 2, unlisted: [])
    reported.reporter = "ha"
    #expect(of(reported) == "mDNS and the agent of ha, 2 border routers")
    #expect(
      of(.unavailable(message: "Nobody answers.", remedy: "Install it.")) == "unavailable: Nobody answers. Install it.")
  }
}

@Suite("The list of networks") struct NetworkListingTests {
  private func router(_ name: String?, _ id: String = "a1b2c3d4e5f60718", isOnline: Bool = true) -> JSONValue {
    var members = ["border_agent_id": JSONValue.text(id), "availability": .text(isOnline ? "online" : "offline")]
    members["name"] = name.map(JSONValue.text)
    return .object(members)
  }

  @Test("A network shows its name, its mark and its routers, those that are offline marked") func cells() {
    let listing = NetworkListing(
      network: "1111111122222222", name: "home", home: "home",
      routers: [router("Kitchen"), router("Attic", isOnline: false), router(nil)])
    #expect(
      NetworkListing.table([listing]).rows == [
        ["home", "1111111122222222", "", "", "Attic (offline), Kitchen, a1b2c3d4e5f60718"]
      ])
    let other = "a1b2c3d4e5f60719"
    let alike = NetworkListing.table([
      listing,
      NetworkListing(
        network: "1", name: nil, home: nil, routers: [router("Kitchen ", other), router("Hall", "a1b2c3d4e5f60720")]),
    ]).rows
    #expect(alike[0][4].contains("Kitchen (a1b2c3d4e5f60718)"))
    #expect(alike[1][4] == "Hall, Kitchen  (\(other))")
    let none = NetworkListing(network: nil, name: nil, home: nil, routers: [router("Kitchen")])
    #expect(NetworkListing.table([none]).rows == [["(none)", "", "", "", "Kitchen"]])
  }

  @Test("The fields of a known network stay as they are published, with its routers beside them") func json() throws {
    func listing(_ members: [String: JSONValue]) -> NetworkListing {
      NetworkListing(
        .object(["ext_pan_id": .text("1111111122222222"), "routers": .integer(0)].merging(members) { $1 }), [])
    }
    func cells(_ members: [String: JSONValue]) -> [String] { NetworkListing.table([listing(members)]).rows[0] }
    #expect(cells(["preferred": .bool(false), "accepted": .bool(true)])[3] == "accepted")
    #expect(cells(["preferred": .bool(true), "accepted": .bool(true)])[3] == "yes")
    #expect(cells(["shared_by": .array([.text("ha"), .text("hb")])])[5] == "ha, hb")
    let line = try JSONText.line(listing([:]))
    #expect(line.contains(#""routers":0"#) && line.contains(#""border_routers":[]"#), "\(line)")
  }
}
