import Broker
import Home
import ThreadDataset
import ThreadRequests
import Wire

/// The JSON of events and requests: the kind of the event, or the command of the request, is the first line.
enum EventFuzz {
  static func check(_ bytes: [UInt8]) throws {
    var input = InputReader(bytes)
    let name = String(decoding: input.line(), as: UTF8.self)
    let payload = input.remainder()
    if let kind = RouterMessage.Kind(word: name) {
      try checkEvent(payload, kind)
    } else if let command = RequestCommand(rawValue: name) {
      try checkRequest(payload, command)
    } else {
      for kind in RouterMessage.Kind.allCases { try checkEvent(bytes, kind) }
      for command in RequestCommand.allCases { try checkRequest(bytes, command) }
    }
  }

  private static func checkEvent(_ payload: [UInt8], _ kind: RouterMessage.Kind) throws {
    do {
      var event = try InboundEvent(reading: payload, as: kind)
      guard !event.isSealed else {
        _ = try InboundEvent(reading: payload, sealedIn: payload, as: kind, sequence: 1)
        try expect(false, "an envelope in an envelope is no event")
        return
      }
      try event.checkDataset()
      try checkEvent(event, kind)
    } catch let error as Rejection {
      try expect(!error.message.isEmpty && !error.message.contains("\n"), "a reason is one line")
      try expect((0...payload.count).contains(error.offset ?? 0), "a flaw lies within the payload")
    }
  }

  private static func checkEvent(_ event: InboundEvent, _ kind: RouterMessage.Kind) throws {
    let message = event.message
    try expect(message.kind == kind && !event.isSealed, "an event is of its kind")
    let texts = [message.name, message.vendor, message.model, message.accessPoint, message.ssid, message.previousSSID]
    try expect(texts.allSatisfy { $0?.count ?? 0 <= InboundLimits.textCharacters }, "its texts are short")
    try expect(message.sightings.count <= InboundLimits.routers, "it has not too many routers")
    if let bytes = event.dataset?.bytes {
      let dataset = try OperationalDataset(bytes: bytes)
      try expect(dataset.kind == .complete, "its dataset is complete and active")
    }
    var again = try InboundEvent(reading: event.json(), as: kind)
    try again.checkDataset()
    try expect(again.dataset == event.dataset, "what is written is read again")
    try expect(again.message.subject == message.subject, "what is written is read again")
  }

  private static func checkRequest(_ payload: [UInt8], _ command: RequestCommand) throws {
    guard (try? InboundLimits.check(payload)) != nil else { return }
    _ = RequestFields.transaction(of: payload)
    guard let fields = try? RequestFields(json: payload), let request = try? ThreadRequest(command, fields) else {
      return
    }
    let again = try need("the fields of a request are a request") {
      try ThreadRequest(command, RequestFields(json: request.fields(on: .mqtt).json()))
    }
    try expect(again == request, "the fields of a request are the same request")
  }
}
