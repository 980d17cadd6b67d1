// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadDataset
import ThreadRequests

/// The JSON of events and requests: the kind of the event, or the command of the request, is the first line.
enum EventFuzz {
  static func check(_ bytes: [UInt8]) throws {
    var input = InputReader(bytes)
    let name = String(decoding: input.line(), as: UTF8.self)
    let payload = input.remainder()
    if let kind = InboundEventKind(rawValue: name) {
      try checkEvent(payload, kind)
    } else if let command = RequestCommand(rawValue: name) {
      try checkRequest(payload, command)
    } else {
      for kind in InboundEventKind.allCases { try checkEvent(bytes, kind) }
      for command in RequestCommand.allCases { try checkRequest(bytes, command) }
    }
  }

  private static func checkEvent(_ payload: [UInt8], _ kind: InboundEventKind) throws {
    let decoder = InboundEventDecoder()
    do {
      switch try decoder.read(payload, as: kind) {
      case .plain(let event):
        try checkEvent(event, kind)
        try expect((try? decoder.decode(payload, as: kind)) == event, "both ways read the same")
      case .sealed(let sealed):
        try expect((try? decoder.decode(payload, as: kind)) == nil, "an envelope is no plain event")
        _ = try? decoder.decode(payload, inside: sealed, sequence: 1)
      }
    } catch let error as Rejection {
      try expect(!error.message.isEmpty && !error.message.contains("\n"), "a reason is one line")
      try expect((0...payload.count).contains(error.offset ?? 0), "a flaw lies within the payload")
      try expect((try? decoder.decode(payload, as: kind)) == nil, "what is refused stays refused")
    }
  }

  private static func checkEvent(_ event: InboundEvent, _ kind: InboundEventKind) throws {
    try expect(event.kind == kind && !event.wasSealed, "an event is of its kind")
    let texts = [
      event.name, event.vendor, event.model, event.accessPoint, event.ssid, event.previousSSID,
    ]
    try expect(
      texts.allSatisfy { $0?.count ?? 0 <= InboundLimits.textCharacters }, "its texts are short")
    try expect(event.extendedAddress?.count ?? 8 == 8, "an extended address has 8 bytes")
    try expect(event.dataset?.kind ?? .complete == .complete, "its dataset is complete and active")
  }

  private static func checkRequest(_ payload: [UInt8], _ command: RequestCommand) throws {
    guard (try? InboundEventDecoder().check(payload)) != nil else { return }
    _ = RequestFields.transaction(of: payload)
    guard let fields = try? RequestFields(json: payload),
      let request = try? ThreadRequest(command, fields)
    else { return }
    let again = try need("the fields of a request are a request") {
      try ThreadRequest(command, RequestFields(json: request.fields.json))
    }
    try expect(again == request, "the fields of a request are the same request")
  }
}
