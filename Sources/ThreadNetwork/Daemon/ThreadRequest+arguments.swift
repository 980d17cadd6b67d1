// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Requests made of what callers give. What is no argument is refused here, and nobody is asked.
extension ThreadRequest {
  static func of(_ borderAgentID: Data, _ command: RequestCommand) throws(THError) -> ThreadRequest
  {
    guard let agent = BorderAgentID(bytes: borderAgentID) else {
      throw THError(
        .invalidArgument,
        "a Border Agent ID has 8 or 16 bytes, this one has \(borderAgentID.count)",
        help: "it is the MAC extended address, or `xa` or `id` of the router's mDNS announcement")
    }
    var request = ThreadRequest(command)
    request.agent = agent
    return request
  }

  static func about(
    _ extendedPANID: Data, _ command: RequestCommand
  ) throws(THError) -> ThreadRequest {
    guard let network = ExtendedPANID(bytes: extendedPANID) else {
      throw THError(
        .invalidArgument, "an Extended PAN ID has 8 bytes, this one has \(extendedPANID.count)")
    }
    var request = ThreadRequest(command)
    request.network = network
    return request
  }

  /// A complete active dataset.
  static func dataset(_ bytes: Data) throws(THError) -> OperationalDataset {
    let dataset: OperationalDataset
    do throws(DatasetError) {
      dataset = try OperationalDataset(bytes: Array(bytes))
      try dataset.requireComplete()
    } catch {
      throw THError(AnswerFailure(error))
    }
    guard dataset.kind == .complete else {
      throw THError(
        AnswerFailure(
          .incompleteDataset, "this is a pending dataset; the active one is asked for"))
    }
    return dataset
  }
}
