import Glibc
import Home
import ThreadkeeperSupport

/// Written as RFC 3339 in UTC, to the second.
extension WireTime: WireReadable {
  package func write(to json: inout JSONWriter) {
    json.byte(0x22)
    json.time(milliseconds: milliseconds)
    json.byte(0x22)
  }

  /// - Returns: nil for anything but what is written, of the years 0 to 9999.
  package static func read(_ member: JSONMember, _ form: WireForm?) -> WireTime? {
    if case .string(let string) = member.value { string.text.flatMap(WireTime.init) } else { nil }
  }

  package static var form: WireForm {
    WireForm(
      name: "time", "RFC 3339 in UTC, to the second.",
      pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")
  }

  package static func schema(_ form: WireForm, _ describer: inout WireDescriber) -> String {
    String.schema(form, &describer) + #", "format": "date-time""#
  }
}

extension WireTime: Codable, CustomStringConvertible {
  package var description: String {
    var text = JSONWriter(capacity: 20)
    text.time(milliseconds: milliseconds)
    return String(decoding: text.bytes, as: UTF8.self)
  }

  /// - Throws: `DecodingError` for anything but what `description` gives.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let time = WireTime(text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no time")
    }
    self = time
  }

  /// - Returns: nil for anything but what `description` gives of the years 0 to 9999.
  private init?(_ text: String) {
    guard text.utf8.count == 20 else { return nil }
    let numbers = text.split { "-T:Z".contains($0) }.compactMap { Int32($0) }
    guard numbers.count == 6, numbers.allSatisfy({ 0...9999 ~= $0 }) else { return nil }
    var date = tm()
    (date.tm_year, date.tm_mon, date.tm_mday) = (numbers[0] - 1900, numbers[1] - 1, numbers[2])
    (date.tm_hour, date.tm_min, date.tm_sec) = (numbers[3], numbers[4], numbers[5])
    self.init(milliseconds: Int64(timegm(&date)) * 1000)
    // timegm(3) takes February 30 as a day of March.
    guard description == text else { return nil }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
