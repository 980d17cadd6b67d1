import Broker
import TestKit
import Testing
import Wire

import enum Home.AdoptionState
import enum Home.OfflineReason
import struct Home.RouterMessage
import enum Home.ThreadState

@testable import BorderRouterAgent

/// What agents publish, byte for byte, and what they read of what the daemon sends them, in files.
@Suite("Bytes of agents") struct AgentBytesTests {
  private static let now: Int64 = 1_800_000_000
  private static let awkward = "Attic \"2\" é\u{1}/\\\n😀"

  private static func line(_ publication: Publication) -> String {
    let expiry = publication.messageExpiry.map { " expires=\($0)" } ?? ""
    return "\(publication.topic) \(String(decoding: publication.payload, as: UTF8.self))"
      + "\(expiry) answer=\(publication.responseTopic ?? "none")\n"
  }

  @Test("Each event of a router, an SSID, shared credentials and of the agent itself") func published() throws {
    let dataset = try SampleNetwork.home.dataset(at: 1)
    let agent = try Sample.agent()
    var whole = RouterEvent(.announce, of: agent)
    (whole.extendedAddress, whole.dataset) = ("0102030405060708", dataset)
    (whole.network, whole.partition) = (dataset.extendedPANID, .max)
    var events: [RouterEvent] = []
    for kind in [RouterMessage.Kind.announce, .dataset, .heartbeat, .offline, .leave] {
      events.append(RouterEvent(kind, of: agent))
      whole.kind = kind
      events.append(whole)
    }
    for state in ThreadState.allCases {
      events.append(RouterEvent(.heartbeat, of: agent))
      events[events.count - 1].threadState = state
    }
    for reason in OfflineReason.reported {
      events.append(RouterEvent(.offline, of: agent, reason: reason))
      events[events.count - 1].httpStatus = reason == .failing ? 500 : nil
    }
    whole.kind = .announce
    for reason in AdoptionState.reported {
      whole.adoptionFailure = reason
      events.append(whole)
    }
    var writer = EventWriter(base: "tk", user: "hub")
    let description = RouterDescription(name: Self.awkward, vendor: "Maker", model: "M1")
    var text = ""
    for event in events { text += try Self.line(writer.publication(of: InboundEvent(event, description), now: 7)) }
    let last = InboundEvent(RouterEvent(.offline, of: agent))
    text += try Self.line(#require(writer.lastWill(of: last)))
    for standing in [AgentStanding.works, .serverDiffers(Self.awkward), .fails(Self.awkward), .reportedByRouter] {
      text += try Self.line(writer.publication(of: standing, by: Self.awkward, now: 7))
    }
    let ssid = try #require(try SSID(Array("Wi-Fi \"é\"".utf8)))
    for subject in [SSIDSubject.router(agent), .accessPoint(Self.awkward)] {
      text += try Self.line(writer.publication(of: subject.event(ssid), expiry: 60, now: 7))
    }
    for borderAgent in [nil, agent] {
      var event = InboundEvent(.credentials)
      (event.agent, event.message.name) = (borderAgent, Self.awkward)
      (event.dataset, event.isPreferred) = (WireDataset(dataset.bytes), borderAgent == nil)
      text += try Self.line(writer.publication(of: event, now: 7))
    }
    var seen = SightedRouter()
    (seen.agent, seen.address, seen.network) = (agent, WireHex(7), dataset.extendedPANID)
    (seen.name, seen.networkName) = (Self.awkward, dataset.networkName)
    (seen.model, seen.vendor, seen.threadVersion) = ("M1", "Maker", "1.4.0")
    var sightings = InboundEvent(.sightings, of: Self.awkward)
    sightings.routers = [seen]
    text += try Self.line(writer.publication(of: sightings, expiry: 60, now: 7))
    try Golden.check(text, "events.txt")
    for kind in RouterMessage.Kind.allCases { #expect(text.contains("/\(kind.word) {")) }
  }

  // MARK: What the daemon sends

  private static func line(_ payload: [UInt8], _ read: String, _ hex: String, _ kind: String) -> String {
    let shown = MessageTemplate.line(Array("\(kind) ".utf8) + payload, [hex: "DATASET"])
    return "\(shown) -> \(read.replacing(hex, with: "DATASET"))\n"
  }

  /// Each line has what it is, the message (of an order what is sealed), ` -> ` and what it is read as.
  @Test("Orders of adoptions, and answers to events and requests, right and wrong ones") func read() throws {
    let (own, daemon) = (try Identity(), try Identity())
    let keys = AgentKeys(own: own, daemon: daemon.keys)
    let hex = try SampleNetwork.home.dataset(at: 1).hex
    var text = ""
    let order = MessageTemplate(
      ["border_agent_id": #""11111111111111111111111111111111""#, "dataset": "\"\(hex)\"", "id": #""a-1""#],
      needs: ["border_agent_id", "dataset", "id"])
    for body in order.ofFields + order.ofWhole {
      let topic = "tk/out/hub/dataset/set"
      let place = Envelope.Place(topic: topic, order: .identifier("a-1"), now: Self.now, lifetime: 300)
      // Nothing but a JSON object can be sealed, and no large one.
      guard let envelope = try? Envelope.seal(body, to: own.keys, from: daemon, at: place) else { continue }
      let message = IncomingMessage(topic: topic, payload: SealedPayload(envelope).json())
      var read = ""
      do throws(AdoptionOrder.Refusal) {
        let order = try AdoptionOrder(message, keys: keys, now: Self.now)
        read = Described.fields([
          "order": order.id.debugDescription, "router": "\(order.agent)", "dataset": order.dataset.hex,
          "issued": "\(order.issuedAt)", "expires": "\(order.expiresAt)",
        ])
      } catch { read = "!\(error)" }
      text += Self.line(body, read, hex, "order")
    }

    let answer = MessageTemplate(
      ["status": #""error""#, "v": "1", "error": #"{"code":"not_found","field":"seq","message":"no \"é\""}"#],
      needs: ["status", "v"])
    for payload in answer.ofFields + answer.ofWhole {
      let outcome = EventOutcome(
        IncomingMessage(topic: "t", payload: payload, correlationData: Array("announce 7".utf8)))
      let read = outcome.map {
        Described.fields([
          "\($0.kind)": "\($0.token)", "code": $0.code, "field": $0.field, "message": $0.message.debugDescription,
        ])
      }
      text += Self.line(payload, read ?? "nothing", hex, "answer")
    }

    let network = #"{"ext_pan_id":"1111111122222222","preferred":true,"active_timestamp":5}"#
    let list = MessageTemplate(
      ["status": #""ok""#, "data": "{\"networks\":[\(network)]}", "transaction": #""t""#, "v": "1"],
      needs: ["status", "data", "v"])
    for payload in list.ofFields + list.ofWhole {
      var requester = SealedRequester(base: "tk", user: "ha", keys: keys)
      let asked = try requester.publication(.networks, now: Self.now)
      let answer = requester.answer(
        IncomingMessage(
          topic: requester.answerTopic(.networks), payload: payload, correlationData: asked.correlationData),
        now: Self.now)
      let read =
        switch answer {
        case .home(let home?): "network=\(home.network) seconds=\(home.timestamp)"
        case .home(nil): "no network"
        case .refused(_, let code, let message): "!code=\(code) message=\(message.debugDescription)"
        case .credentials: "credentials"
        case nil: "nothing"
        }
      text += Self.line(payload, read, hex, "networks/list")
    }
    try Golden.check(text, "messages.txt")
    #expect(text.contains(" -> order=\"a-1\"") && text.contains(" -> network=1111111122222222"))
  }
}
