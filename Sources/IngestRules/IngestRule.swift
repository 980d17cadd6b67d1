// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol

/// How messages of another publisher become events, as the setting `ingest` has it. Checked: `IngestRule` is made by the
/// reader of the settings only.
package struct IngestRule: Sendable, Hashable {
  /// 1 to 32 letters, digits, `-`, `_` or `.`; unique.
  package let name: String
  package let filter: TopicFilter
  package let event: InboundEventKind
  /// The user of the broker in whose name it speaks, as in `in/<user>/<event>`. It never comes from the payload.
  package let user: TextTemplate
  /// The home's name.
  package let home: String
  package let fields: [InboundEventField: IngestValue]
  /// All of them have to be met.
  package let conditions: [IngestCondition]

  package init(
    name: String, filter: TopicFilter, event: InboundEventKind, user: TextTemplate, home: String,
    fields: [InboundEventField: IngestValue], conditions: [IngestCondition] = []
  ) {
    self.name = name
    self.filter = filter
    self.event = event
    self.user = user
    self.home = home
    self.fields = fields
    self.conditions = conditions
  }

  /// Fields that every event of it needs, and that it has no value for.
  package var missingFields: [InboundEventField] {
    InboundEventField.needed(by: event).filter { field in
      if event == .ssid, field == .borderAgentID, fields[.accessPoint] != nil { return false }
      return fields[field] == nil
    }
  }
}
