// SPDX-License-Identifier: Apache-2.0

/// Items of the store that an import deletes or replaces, as far as its first pass has come. The second pass does not
/// find them any more, so that the first one must not count them again.
struct ImportForecast {
  private var deleted: Set<ItemID> = []
  private var replaced: Set<ItemID> = []

  mutating func deletes(_ rivals: [ItemRival]) {
    for rival in rivals { deleted.insert(rival.item.id) }
  }

  mutating func replaces(_ standing: ImportStanding) {
    if case .other(let here, _) = standing { replaced.insert(here.id) }
  }

  /// As the second pass will find it.
  func standing(_ standing: ImportStanding?) -> ImportStanding? {
    guard case .other(let here, _)? = standing, deleted.contains(here.id) else { return standing }
    return .new
  }

  /// Whether it is still there then, as it is now.
  func leaves(_ rival: ItemRival) -> Bool {
    !deleted.contains(rival.item.id) && !replaced.contains(rival.item.id)
  }
}
