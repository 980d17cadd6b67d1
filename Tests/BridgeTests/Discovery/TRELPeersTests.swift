import ServiceDiscovery
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home

@Suite("Which TREL peers are left over") struct TRELPeersTests {
  /// What happens at a second.
  enum Step: Sendable {
    case peer(Int, xa: String? = nil, host: String = "box.local", address: String = "fd00::1")
    /// These border routers are announced, by host and extended address.
    case routers(Int, host: String = "other.local", address: UInt64 = 9)
    case noRouters(Int)
    case silent(Int)
    case update(Int, ServiceUpdate)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let steps: [Step]
    /// At second 1,000: the end of the reason, and from when on it is named; nil: it is not named.
    let named: (String, from: Int)?

    init(_ name: String, _ steps: [Step], _ named: (String, from: Int)? = nil) {
      (testDescription, self.steps, self.named) = (name, steps, named)
    }
  }

  private static let none = "no border router with its address or host is announced"
  private static let silent = "nobody answers for it any more, though other border routers may still send to it"

  static let rows: [Row] = [
    Row(
      "One whose border router has its extended address",
      [.peer(0, xa: "00000000000000ff"), .routers(900, address: 255)]),
    Row("One on the host of a border router", [.peer(0), .routers(900, host: "box.local")]),
    Row("One of another border router", [.peer(0, xa: "00000000000000ff"), .routers(900)], (none, 600)),
    Row("One with an address of another length", [.peer(0, xa: "ff"), .routers(900, address: 255)], (none, 600)),
    Row(
      "One whose border router has gone", [.peer(0), .routers(300, host: "box.local"), .noRouters(900)], (none, 900)),
    Row("One that changes its address meanwhile", [.peer(0), .peer(500, address: "fd00::2")], (none, 600)),
    Row("One that answers no more", [.peer(0), .routers(300, host: "box.local"), .silent(400)], (silent, 875)),
    Row("One that answers again", [.peer(0), .silent(225), .peer(500), .routers(900, host: "box.local")]),
    Row("One that has gone", [.peer(0), .silent(225), .update(300, .lost(name: "ot1"))]),
    Row(
      "One that never said where it is", [.update(10, .unusable(name: "ot1", reason: "nobody says it"))],
      ("nobody says it", 610)),
    Row("None while avahi-daemon is away", [.peer(0), .update(500, .unavailable(.init(message: "a", remedy: "b")))]),
  ]

  @Test(arguments: rows) func leftOver(_ row: Row) {
    var peers = TRELPeers()
    let start = WireTime(milliseconds: 1_000_000_000)
    for step in row.steps {
      switch step {
      case .peer(let second, let xa, let host, let address):
        let text = TXTRecord(entries: xa.map { [Array("xa=".utf8) + (Hexadecimal.decode($0) ?? [])] } ?? [])
        let record = ServiceRecord(name: "ot1", host: host, address: address, port: 7, text: text)
        peers.take(.found(record), at: start.adding(seconds: second))
      case .routers(let second, let host, let address):
        peers.compare(hosts: [host], addresses: [address], at: start.adding(seconds: second))
      case .noRouters(let second): peers.compare(hosts: [], addresses: [], at: start.adding(seconds: second))
      case .silent(let second):
        peers.take(.lost(name: "ot1", silence: .seconds(125)), at: start.adding(seconds: second))
      case .update(let second, let update): peers.take(update, at: start.adding(seconds: second))
      }
    }
    guard let (reason, first) = row.named else {
      return #expect(peers.leftOver(at: start.adding(seconds: 1_000)).isEmpty)
    }
    #expect(peers.leftOver(at: start.adding(seconds: first - 1)).isEmpty)
    #expect(
      peers.leftOver(at: start.adding(seconds: first)) == [
        UnlistedRecord(name: "ot1", reason: "it is a TREL peer, and \(reason)")
      ])
  }

  @Test("Only so many are known") func bound() {
    var peers = TRELPeers()
    let start = WireTime(milliseconds: 0)
    for number in 0..<1_000 { peers.take(.unusable(name: "\(number)", reason: "x"), at: start) }
    peers.take(.lost(name: "5"), at: start)
    #expect(peers.leftOver(at: start.adding(seconds: 600)).count == 199)
  }
}
