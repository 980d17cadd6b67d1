// SPDX-License-Identifier: Apache-2.0

extension PageDocument {
  /// Text has a contrast of at least 4.5 to 1 in both schemes (WCAG 2.2, 1.4.3); see `PageDocumentTests`. `bad` and
  /// `warn` are for what is wrong, and for nothing else.
  static let style = """
    :root{color-scheme:light dark;--back:#f3f5f7;--card:#fff;--text:#1b1f24;--dim:#50575f;--line:#d3d9df;\
    --good:#136c2e;--bad:#a40e26;--warn:#7a4b00;--mark:#0b5cad;--on:#fff;\
    --goodtint:#e4f3e8;--badtint:#fdebed;--warntint:#fdf0d3;--marktint:#e6f0fa}
    @media (prefers-color-scheme:dark){:root{--back:#14171a;--card:#1f2428;--text:#e8ebee;--dim:#a9b1ba;\
    --line:#3d454d;--good:#6fd08c;--bad:#ff9a9f;--warn:#f0bd62;--mark:#7fbcff;--on:#10161c;\
    --goodtint:#17291d;--badtint:#38191d;--warntint:#332810;--marktint:#16273b}}
    *{box-sizing:border-box}
    body{margin:0 auto;max-width:68rem;padding:0 1rem 2rem;background:var(--back);color:var(--text);\
    font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
    h1{font-size:.9rem;font-weight:600;margin:.75rem 0 .4rem;color:var(--dim)}
    h2{font-size:1.1rem;margin:1.75rem 0 .5rem}h3,h4{font-size:1.05rem;margin:0}
    p{margin:.25rem 0}ul,dl{list-style:none;margin:0;padding:0}
    .skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.5rem;background:var(--back)}
    a,.link{color:var(--mark)}code{font-size:.92em;background:var(--back);border-radius:.25rem;padding:0 .2em}
    :focus-visible{outline:3px solid var(--mark);outline-offset:2px}
    .dim{color:var(--dim)}.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}
    .small{font-size:.875rem}.name{font-weight:600}
    #verdict{display:flex;gap:.9rem;align-items:center;border-radius:.75rem;padding:.9rem 1rem;\
    background:var(--marktint);color:var(--mark)}
    #verdict.good{background:var(--goodtint);color:var(--good)}
    #verdict.warn{background:var(--warntint);color:var(--warn)}
    #verdict.bad{background:var(--badtint);color:var(--bad)}
    #verdict p{margin:0}.lead{font-size:1.25rem;font-weight:650;line-height:1.3}
    .sign{flex:none;width:2.25rem;height:2.25rem;border-radius:50%;background:currentColor;display:grid;\
    place-items:center}
    .sign::before{content:"?";color:var(--card);font-weight:700;font-size:1.3rem}
    .good .sign::before{content:"\\2713"}.warn .sign::before,.bad .sign::before{content:"!"}
    #away{border:2px solid var(--bad);color:var(--bad);padding:.5rem .75rem;border-radius:.5rem}
    .grid{display:grid;gap:.75rem;align-items:start;\
    grid-template-columns:repeat(auto-fill,minmax(min(100%,22rem),1fr))}
    .card{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:.9rem 1rem}
    section>div>.card{margin-bottom:.6rem}
    .critical,.warning,.ask{border-left:.35rem solid var(--bad)}.warning{border-left-color:var(--warn)}
    .ask{border-left-color:var(--mark)}
    .net.preferred{border:2px solid var(--mark)}
    .head{display:flex;flex-wrap:wrap;align-items:baseline;gap:.1rem .5rem}
    .badge{border-radius:1rem;padding:0 .6rem;font-size:.8rem;font-weight:600;background:var(--marktint);\
    color:var(--mark)}
    .mesh{display:grid;grid-template-columns:repeat(auto-fill,minmax(5.75rem,1fr));gap:.75rem 0;\
    margin:.75rem 0 .25rem}
    .mesh li{position:relative;text-align:center;padding:0 .25rem;line-height:1.25}
    .mesh li::before{content:"";position:absolute;top:1.3rem;left:0;right:0;border-top:2px solid var(--line)}
    .mesh li:first-child::before{left:50%}.mesh li:last-child::before{right:50%}
    .mesh li.off::before{border-top-style:dashed}
    .dot{position:relative;display:block;width:2.75rem;height:2.75rem;margin:0 auto .3rem;border-radius:50%;\
    background:var(--card);border:2px solid var(--good);color:var(--good);padding:.5rem}
    .off .dot{border-color:var(--dim);color:var(--dim);border-style:dashed}
    .fault .dot{border-color:var(--warn);color:var(--warn);border-width:3px}
    .fault.grave .dot{border-color:var(--bad);color:var(--bad)}
    .fault .dot::after{content:"!";position:absolute;top:-.5rem;right:-.5rem;width:1.3rem;height:1.3rem;\
    border-radius:50%;background:var(--warn);color:var(--on);font-weight:700;font-size:.9rem;line-height:1.3rem}
    .fault.grave .dot::after{background:var(--bad)}
    .dot svg{display:block;width:100%;height:100%;fill:none;stroke:currentColor;stroke-width:2;\
    stroke-linecap:round;stroke-linejoin:round}
    .mesh .name{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:3;overflow:hidden;\
    font-size:.9rem}
    .mesh .state{display:block;font-size:.8rem}
    .rows li{padding:.4rem 0;border-top:1px solid var(--line)}.rows button{display:block}
    details{margin-top:.5rem}summary{color:var(--mark);cursor:pointer;min-height:1.75rem}
    .part{display:flex;gap:1rem;padding:.15rem 0}dt{font-weight:600;min-width:8.5rem}dd{margin:0}
    .events li{display:flex;flex-wrap:wrap;gap:0 .75rem;padding:.35rem 0;border-bottom:1px solid var(--line)}
    .events time{flex:none;min-width:7.5rem}.events span{flex:1 1 15rem}
    button{font:inherit;min-height:2.75rem;padding:.25rem .9rem;margin:.5rem .5rem 0 0;border-radius:.5rem;\
    border:1px solid var(--mark);background:var(--card);color:var(--mark);cursor:pointer}
    button.main{background:var(--mark);color:var(--on)}button:disabled{opacity:.6}
    footer{margin-top:1.5rem}
    @media (prefers-reduced-motion:no-preference){button:hover{filter:brightness(1.1)}}
    """
}
