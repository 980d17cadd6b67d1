// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import Testing
import ThreadDataset
import ThreadRequests

/// The channels of `docs/reference/asyncapi.yaml` beside the topics that the code builds and reads.
@Suite("The topics of the AsyncAPI document")
struct AsyncAPITopicTests {
  private let document: AsyncAPIDocument

  init() throws { document = try AsyncAPIDocument.shared.get() }

  /// Addresses with `+` for each parameter, which is not the base topic or the prefix of Home Assistant.
  private func addresses(sent: Bool) -> Set<String> {
    let channels = document.operations.filter { $0.isSent == sent }
      .flatMap { sent ? [$0.channel] : [$0.channel, $0.reply ?? $0.channel] }
    return Set(
      channels.compactMap { document.channel(named: $0)?.address }.map {
        $0.replacing(#/\{(?!base|prefix)[a-z_]+\}/#, with: "+")
      })
  }

  private func levels(_ text: Substring) -> String {
    String(text).replacing(#/\\\([^)]*\)/#, with: "+").replacing(#/^\+/#, with: "{base}")
  }

  @Test(
    "Every topic that the code builds is a channel on which the daemon publishes, and no other is")
  func published() throws {
    let topic = OutboundTopic(base: "{base}")
    let agent = try #require(BorderAgentID(hex: "a1b2c3d4e5f60718"))
    let network = try #require(ExtendedPANID(hex: "1111111122222222"))
    let alert = AlertFingerprint(home: "home", name: .sessionLost, subject: "")
    let place = try #require(
      HomeAssistantPlace(
        home: "home", in: BaseTopics([.init(name: "home", base: "{base}")]), prefix: "{prefix}",
        version: "1"))
    let built =
      [
        topic.state, topic.info, topic.health, topic.alerts, topic.consent, topic.event,
        topic.alertEvent, topic.router(agent), topic.availability(agent),
        topic.routerEvent(agent), topic.network(network), topic.alert(alert),
        topic.setDataset(of: "+"), topic.answer(to: "+", command: "?"), place.bridgeTopic,
        place.routerTopic(agent),
      ].map {
        $0.replacing("\(agent)", with: "+").replacing("\(network)", with: "+")
          .replacing("\(alert)", with: "+")
          .replacing(#/threadkeeper_[^\/]*/#, with: "+")
      }
    #expect(Set(built) == addresses(sent: true))

    // A builder that the list above does not have is in the source all the same.
    let source = try ProjectFiles.text(of: "Sources/Broker/Protocol/Topics/OutboundTopic.swift")
    let literals = source.matches(of: #/"(\\\(base\)\/(?:[^"\\]|\\\([^)]*\))*)"/#).map {
      levels($0.output.1)
    }
    let known = Set(built).union(["{base}/out/+/response/+", "{base}/out/+/"])
    #expect(literals.count == 14)
    #expect(Set(literals).subtracting(known).isEmpty, "\(Set(literals).subtracting(known))")
  }

  @Test("Every event and every request is a channel that the daemon receives, and no other is")
  func received() {
    let events = InboundEventKind.allCases.map { "{base}/in/+/\($0.rawValue)" }
    let requests = RequestCommand.allCases.map { "{base}/in/+/request/\($0.rawValue)" }
    let answers = RequestCommand.allCases.map {
      OutboundTopic(base: "{base}").answer(to: "+", command: $0.rawValue)
    }
    let others = [
      "{prefix}/status", "{base}/+/+/probe", "$SYS/broker/publish/messages/dropped",
    ]
    #expect(Set(events + requests + answers + others) == addresses(sent: false))
  }

  @Test("A topic finds its own channel: a command, a Response Topic, and none below `dataset`")
  func found() {
    func name(_ topic: String) -> String? {
      document.channel(of: "house/\(topic)", below: "house")?.name
    }
    #expect(name("router/a1b2c3d4e5f60718") == "router")
    #expect(name("router/a1b2c3d4e5f60718/event") == "routerEvent")
    #expect(name("out/anna/response/credentials/list_active") == "credentialsListActiveAnswer")
    #expect(name("out/anna/response/unknown") == "unknownAnswer")
    #expect(name("out/anna/mine") == "answerElsewhere")
    #expect(name("out/anna/response/event/7") == "answerElsewhere")
    #expect(name("out/anna/dataset/set") == "datasetSet")
    #expect(name("out/anna/dataset/get") == nil)
    #expect(name("out/anna") == nil)
    #expect(name("in/anna/request/credentials/list") == "credentialsListRequest")
    #expect(name("in/anna/request/credentials") == nil)
    #expect(name("bridge/states") == nil)
    #expect(document.channel(of: "houses/bridge/state", below: "house") == nil)
  }

  @Test("The page about the protocol has every topic that the daemon publishes, and every command")
  func documented() throws {
    let page = try ProjectFiles.text(of: "docs/reference/mqtt-protocol.md")
    for channel in document.channels.filter({ document.sending($0) != nil }) {
      let address = (channel.address ?? "").replacing("{base}/", with: "")
        .replacing("{", with: "<").replacing("}", with: ">")
      guard channel.name != "unknownAnswer" else { continue }
      let isThere = page.contains("`\(address)`")
      #expect(isThere, "\(address)")
    }
    for command in RequestCommand.allCases {
      let isThere = page.contains("`\(command.rawValue)`")
      #expect(isThere, "\(command.rawValue)")
    }
  }
}
