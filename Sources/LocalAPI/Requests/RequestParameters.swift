// SPDX-License-Identifier: Apache-2.0

import ThreadRequests

/// The parameters of a request over the local API: the fields that it has over MQTT, and who asks.
package struct RequestParameters: Codable, Hashable, Sendable {
  /// The home that it is about; nil: the first one of the settings.
  package var home: String?
  /// Tells what the caller itself waits for, among `Questions.Pending`.
  package var transaction: String?
  package var borderAgentId: String?
  package var dataset: String?
  package var extPanId: String?
  package var networkName: String?
  package var id: String?
  package var scope: String?
  /// What the program calls itself: for people to read only.
  package var program: String?
  /// By the daemon's own user and root: whatever team it belongs to.
  package var administrator: Bool?

  package init(_ request: ThreadRequest, administrator: Bool? = nil) {
    let fields = request.fields
    home = fields.home
    transaction = fields.transaction
    borderAgentId = fields.borderAgentID
    dataset = fields.dataset
    extPanId = fields.extendedPANID
    networkName = fields.networkName
    id = fields.id
    scope = fields.scope
    program = fields.program
    self.administrator = administrator
  }

  /// As over MQTT.
  package var fields: RequestFields {
    var fields = RequestFields()
    fields.home = home
    fields.transaction = transaction
    fields.borderAgentID = borderAgentId
    fields.dataset = dataset
    fields.extendedPANID = extPanId
    fields.networkName = networkName
    fields.id = id
    fields.scope = scope
    fields.program = program
    fields.asAdministrator = administrator
    return fields
  }
}

extension RequestParameters: CustomStringConvertible, CustomReflectable {
  /// Never the dataset.
  package var description: String { "the parameters of a request" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension AnswerData: VarlinkFieldNames {}
