// SPDX-License-Identifier: Apache-2.0

import Settings

extension YAMLNode {
  var scalar: YAMLScalar? {
    if case .scalar(let scalar) = content { scalar } else { nil }
  }

  var nodes: [YAMLNode]? {
    if case .sequence(let nodes) = content { nodes } else { nil }
  }

  var pairs: [(key: YAMLNode, value: YAMLNode)]? {
    if case .mapping(let pairs) = content { pairs } else { nil }
  }

  /// All of it, as YAML on one line. For small texts.
  var outline: String {
    switch content {
    case .scalar(let scalar): scalar.isQuoted ? "'\(scalar.text)'" : scalar.text
    case .sequence(let nodes): "[" + nodes.map(\.outline).joined(separator: ", ") + "]"
    case .mapping(let pairs):
      "{" + pairs.map { "\($0.key.outline): \($0.value.outline)" }.joined(separator: ", ") + "}"
    }
  }
}
