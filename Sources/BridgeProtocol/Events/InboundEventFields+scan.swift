// SPDX-License-Identifier: Apache-2.0

extension InboundEventFields {
  /// The fields of a payload of the usual form; `nil` when Foundation's parser is to decide.
  init?(scanning payload: [UInt8]) {
    self.init()
    let isUsual = payload.withUnsafeBufferPointer { bytes in
      var scanner = FlatObjectScanner(bytes)
      return scanner.scan { name, value in take(name, value) }
    }
    guard isUsual else { return nil }
  }

  /// False for what the parser knows better: another type, a name that comes twice, no UTF-8.
  private mutating func take(_ name: FlatObjectScanner.Text, _ value: FlatObjectScanner.Value)
    -> Bool
  {
    switch name {
    case "border_agent_id": return take(value, as: &borderAgentID)
    case "dataset": return take(value, as: &dataset)
    case "name": return take(value, as: &self.name)
    case "vendor": return take(value, as: &vendor)
    case "model": return take(value, as: &model)
    case "ext_address": return take(value, as: &extendedAddress)
    case "access_point": return take(value, as: &accessPoint)
    case "ssid": return take(value, as: &ssid)
    case "previous_ssid": return take(value, as: &previousSSID)
    case "ext_pan_id": return take(value, as: &currentNetwork)
    case "thread_state": return take(value, as: &threadState)
    case "reason": return take(value, as: &reason)
    case "id": return take(value, as: &identifier)
    case "sealed": return false
    case "seq":
      guard case .number(let number) = value, sequence == nil else { return false }
      sequence = number
      return true
    default:
      guard case .text(let text) = value else { return name.isASCII }
      return name.isASCII && text.string != nil
    }
  }

  private func take(_ value: FlatObjectScanner.Value, as field: inout String?) -> Bool {
    guard case .text(let text) = value, field == nil, let string = text.string else { return false }
    field = string
    return true
  }
}
