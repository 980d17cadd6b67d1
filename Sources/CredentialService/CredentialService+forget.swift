// SPDX-License-Identifier: Apache-2.0

import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

/// `networks/forget`: what is kept of a network that was preferred.
extension CredentialService {
  func forgetNetwork(_ request: ThreadRequest) throws -> AnswerData {
    try requirePerson(for: "`threadkeeper networks forget`")
    if let network = request.network, try preferredNetwork()?.extendedPANID == network {
      var failure = AnswerFailure(
        .conflict, field: "ext_pan_id", "this is the preferred network, which is not deleted",
        help: "choose another one with `threadkeeper preferred set`, or none with "
          + "`threadkeeper preferred forget`; of its earlier keys, name one of "
          + "`threadkeeper preferred show --history` by its id")
      // Nothing that waiting could change.
      failure.exit = 64
      throw failure
    }
    let deleted = try store.deleteFormerNetworks(
      of: home,
      where: { former in
        request.id.map { $0 == former.id } ?? (former.network == request.network)
      }, tx)
    let network = request.network ?? deleted.first?.network
    let remaining = try network.map { try store.all(in: home, on: $0, tx).readable } ?? []
    guard !deleted.isEmpty else {
      let stays =
        remaining.isEmpty
        ? ""
        : "; routers use it, and `threadkeeper credentials delete` deletes theirs"
      throw AnswerFailure(
        .notFound, field: request.id == nil ? "ext_pan_id" : "id",
        "nothing of this network is kept in the history" + stays,
        help: "`threadkeeper preferred show --history` lists what is kept")
    }
    var data = AnswerData()
    data.forgotten = deleted.map(FormerNetworkRecord.init)
    data.remaining = remaining.map(\.agent.description)
    return data
  }
}
