// SPDX-License-Identifier: Apache-2.0

/// What people call a router, for its announcements; what is nil stays as it was.
package struct RouterDescription: Equatable, Sendable {
  package var name: String?
  package var vendor: String?
  package var model: String?

  package init(name: String? = nil, vendor: String? = nil, model: String? = nil) {
    self.name = name
    self.vendor = vendor
    self.model = model
  }
}
