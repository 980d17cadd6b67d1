// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadDataset
import ThreadkeeperDaemon

/// A bad dataset as JSON: `{"error":{"code","tlv","tlv_type","offset","message"}}`.
struct DatasetErrorReport: Encodable {
  struct Body: Encodable {
    let code: String
    let tlv: String?
    let tlvType: UInt8?
    let offset: Int
    let message: String

    enum CodingKeys: CodingKey {
      case code, tlv, tlvType, offset, message
    }

    /// Null says that there is no TLV to blame: the key is always there.
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(code, forKey: .code)
      try container.encode(tlv, forKey: .tlv)
      try container.encode(tlvType, forKey: .tlvType)
      try container.encode(offset, forKey: .offset)
      try container.encode(message, forKey: .message)
    }
  }

  let error: Body

  init(_ error: DatasetError) {
    self.error = Body(
      code: error.code.rawValue, tlv: error.tlvName ?? error.type.map { "TLV \($0)" },
      tlvType: error.type, offset: error.offset, message: error.message)
  }

  /// What the command has to throw. With `--json` the report is printed first, on standard output.
  ///
  /// - Parameter hasPartial: whether the command knows `--partial`.
  func failure(
    _ output: OutputOptions, hasPartial: Bool = false
  ) throws(CommandFailure) -> any Error {
    if output.json {
      try StandardStream.output.write(JSONText.pretty(self))
      return ExitCode(ExitStatus.badInput.rawValue)
    }
    return CommandFailure(
      .badInput, "bad dataset, \(error.code): \(error.message)",
      remedy: hasPartial && error.code == DatasetError.Code.missingTLV.rawValue
        ? "--partial accepts a dataset in which something is missing" : nil)
  }
}
