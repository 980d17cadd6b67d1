// SPDX-License-Identifier: Apache-2.0

/// A part of a YAML document, with the place where it begins.
///
/// An alias is the node that it names, with that node's place. The content is shared, not copied,
/// so a few lines can stand for more nodes than fit into any memory: walk as deep as a known form
/// goes, never through all there is. For that reason nodes have no `==` and no hash.
package struct YAMLNode: Sendable {
  package enum Content: Sendable {
    case scalar(YAMLScalar)
    case sequence([YAMLNode])
    /// In the order of the text. A key may come twice: who reads the mapping can say so with both
    /// places.
    case mapping([(key: YAMLNode, value: YAMLNode)])
  }

  package let content: Content
  package let position: TextPosition
}
