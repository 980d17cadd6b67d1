// SPDX-License-Identifier: Apache-2.0

import CLibYAML

/// libyaml's parser over one text.
struct YAMLEventStream: ~Copyable {
  private let text: String
  /// The parser keeps pointers to itself and into the text, so neither may move.
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let bytes: UnsafeMutableBufferPointer<UInt8>

  /// - Parameter text: without a byte order mark, which libyaml would count as a column.
  init(_ text: String) throws(YAMLFailure) {
    let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
    guard yaml_parser_initialize(parser) == 1 else {
      parser.deallocate()
      throw .outOfMemory
    }
    self.text = text
    self.parser = parser
    bytes = .allocate(capacity: text.utf8.count)
    _ = bytes.initialize(fromContentsOf: text.utf8)
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
  }

  deinit {
    yaml_parser_delete(parser)
    parser.deallocate()
    bytes.deallocate()
  }

  func next() throws(YAMLFailure) -> YAMLEvent {
    var event = yaml_event_t()
    guard yaml_parser_parse(parser, &event) == 1 else {
      throw YAMLFailure(parser.pointee, of: text)
    }
    defer { yaml_event_delete(&event) }
    return YAMLEvent(event)
  }
}
