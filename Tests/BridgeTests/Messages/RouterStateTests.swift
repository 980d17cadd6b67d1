import Testing
import ThreadDataset
import Wire

@testable import Bridge
@testable import Home

@Suite("The states of routers and networks") struct RouterStateTests {
  @Test("A router of which little is known has the fields that are always there") func least() {
    let router = Router(BorderAgentID(high: 1, low: 0), at: WireTime(milliseconds: 0))
    #expect(
      RouterState(router, .none, in: "ho\"me").json().text
        == #"{"availability":"offline","border_agent_id":"0000000000000001","credentials":"missing","#
        + #""first_seen":"1970-01-01T00:00:00Z","home":"ho\"me","preferred":"none","source":"mqtt","v":1}"#)
  }

  @Test("All that is known of a router is in its state") func most() {
    var router = Router(BorderAgentID(high: 1, low: 2), at: WireTime(milliseconds: 0))
    router.user = "anna"
    router.name = "Living room"
    router.vendor = "Acme"
    router.model = "BR-1"
    router.extendedAddress = 0x12
    router.accessPoint = "ap-3"
    router.ssid = "at\tic"
    router.dataset = .of(7, at: 5, channel: 0x2_000F)
    router.credential = .shared
    router.datasetChangedAt = WireTime(milliseconds: 1_795_235_760_000)
    router.currentNetwork = ExtendedPANID(number: 9)
    router.isOnline = true
    router.threadState = .leader
    router.threadStateSince = WireTime(milliseconds: 999)
    router.offlineReason = .noNetwork
    router.partition = .max
    router.threadVersion = "1.4.0"
    router.adoption = Adoption(.noAnswer)
    let state = RouterState(router, .stale([]), in: "home").json().text
    #expect(
      state == #"{"access_point":"ap-3","active_timestamp":5,"adoption":"failed","availability":"online","#
        + #""border_agent_id":"00000000000000010000000000000002","channel":15,"credentials":"shared","#
        + #""current_ext_pan_id":"0000000000000009","dataset_changed_at":"2026-11-21T04:36:00Z","#
        + #""ext_address":"0000000000000012","ext_pan_id":"0000000000000007","#
        + #""first_seen":"1970-01-01T00:00:00Z","home":"home","model":"BR-1","name":"Living room","#
        + #""network_name":"net-7","offline_reason":"no_network","pan_id":4660,"#
        + #""partition_id":4294967295,"preferred":"mismatch","source":"mqtt","ssid":"at\tic","#
        + #""thread_state":"leader","thread_state_since":"1970-01-01T00:00:00Z","#
        + #""thread_version":"1.4.0","user":"anna","v":1,"vendor":"Acme"}"#)
  }

  @Test("A network has its dataset where it is known, and who shares it where somebody does") func networks() {
    var view = NetworkView(id: ExtendedPANID(number: 1))
    #expect(
      NetworkState(view, in: "home").json().text
        == #"{"accepted":false,"ext_pan_id":"0000000000000001","home":"home","network_name":"","#
        + #""preferred":false,"routers":0,"routers_online":0,"v":1}"#)
    view.name = "n\"et"
    view.dataset = .of(1, at: 9)
    view.routers = 100_000
    view.online = 2
    view.isPreferred = true
    view.isAccepted = true
    view.sharedBy = ["ha", "h\"b"]
    #expect(
      NetworkState(view, in: "home").json().text
        == #"{"accepted":true,"active_timestamp":9,"channel":15,"ext_pan_id":"0000000000000001","#
        + #""home":"home","network_name":"n\"et","pan_id":4660,"preferred":true,"routers":100000,"#
        + #""routers_online":2,"shared_by":["ha","h\"b"],"v":1}"#)
  }
}
