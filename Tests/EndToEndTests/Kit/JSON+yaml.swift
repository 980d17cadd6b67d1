// SPDX-License-Identifier: Apache-2.0

import Settings

extension JSON {
  /// What a YAML document means as JSON: plain scalars are null, booleans and whole numbers where they look so.
  init(_ node: YAMLNode) {
    switch node.content {
    case .scalar(let scalar):
      if scalar.isNull {
        self = .null
      } else if scalar.isPlain, scalar.text == "true" || scalar.text == "false" {
        self = .bool(scalar.text == "true")
      } else if scalar.isPlain, let number = Int64(scalar.text) {
        self = .number(number)
      } else {
        self = .text(scalar.text)
      }
    case .sequence(let nodes): self = .list(nodes.map { JSON($0) })
    case .mapping(let members):
      self = .object(
        Dictionary(members.map { (JSON($0.key).text ?? "", JSON($0.value)) }) { $1 })
    }
  }
}

extension JSON: Encodable {
  func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .null: try value.encodeNil()
    case .bool(let bool): try value.encode(bool)
    case .number(let number): try value.encode(number)
    case .fraction(let fraction): try value.encode(fraction)
    case .text(let text): try value.encode(text)
    case .list(let list): try value.encode(list)
    case .object(let fields): try value.encode(fields)
    }
  }
}
