// SPDX-License-Identifier: Apache-2.0

import KeychainCore

extension EnrolledClient {
  /// The client that an item of an import enrols, as this program would have written it.
  ///
  /// - Returns: nil for what is no enrolment.
  package init?(imported item: NewItem) {
    guard item.itemClass == .genericPassword, let service = item.attributes[.service]?.string,
      let home = ClientEnrolmentStore.home(ofService: service),
      let user = item.attributes[.account]?.string, !user.isEmpty
    else { return nil }
    let label = item.attributes[.label]?.string ?? ""
    guard !home.isEmpty,
      let client = try? EnrolmentRecord(item.secret).client(of: user, in: home, label: label)
    else { return nil }
    self = client
  }
}
