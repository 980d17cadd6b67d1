// SPDX-License-Identifier: Apache-2.0

import CLibYAML

/// One step of libyaml through a text, in Swift's own memory.
struct YAMLEvent {
  enum Content {
    case scalar(YAMLScalar, anchor: String?)
    case alias(String)
    case sequenceStart(anchor: String?)
    case mappingStart(anchor: String?)
    /// The end of a sequence, a mapping or a document.
    case end
    case documentStart
    case streamStart
    case streamEnd
  }

  let content: Content
  let position: TextPosition

  init(_ event: yaml_event_t) {
    position = TextPosition(event.start_mark)
    content =
      switch event.type {
      case YAML_SCALAR_EVENT:
        .scalar(Self.scalar(event), anchor: Self.text(event.data.scalar.anchor))
      case YAML_ALIAS_EVENT: .alias(Self.text(event.data.alias.anchor) ?? "")
      case YAML_SEQUENCE_START_EVENT:
        .sequenceStart(anchor: Self.text(event.data.sequence_start.anchor))
      case YAML_MAPPING_START_EVENT:
        .mappingStart(anchor: Self.text(event.data.mapping_start.anchor))
      case YAML_DOCUMENT_START_EVENT: .documentStart
      case YAML_STREAM_START_EVENT: .streamStart
      case YAML_STREAM_END_EVENT, YAML_NO_EVENT: .streamEnd
      default: .end
      }
  }

  private static func scalar(_ event: yaml_event_t) -> YAMLScalar {
    let scalar = event.data.scalar
    // By its length: `"a\0b"` has a zero byte inside.
    let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
    return YAMLScalar(
      text: String(decoding: bytes, as: UTF8.self), tag: text(scalar.tag),
      isQuoted: scalar.style != YAML_PLAIN_SCALAR_STYLE)
  }

  private static func text(_ bytes: UnsafePointer<UInt8>?) -> String? {
    bytes.map { String(cString: $0) }
  }
}
