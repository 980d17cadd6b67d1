// SPDX-License-Identifier: Apache-2.0

/// How much work the rules of the setting `ingest` may make of one message. With those of `InboundLimits`: a payload of
/// 16,384 bytes is read once, eight levels deep, for all rules.
package enum IngestLimits {
  /// Rules. A home has a few kinds of publishers, with some topics each.
  package static let rules = 64
  /// Bytes of a topic.
  package static let topicBytes = 256
  /// Levels of a topic.
  package static let topicLevels = 16
  /// Conditions of one rule, and values that one may have.
  package static let conditions = 8
  package static let conditionValues = 16
  /// Bytes of a text in the settings.
  package static let textBytes = 256
}
