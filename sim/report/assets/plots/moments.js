// The moments in which requests failed: marks in the plots, and details of each below them.
let opened = ""; // the ID of the moment that was opened last
const NEAR = 10; // pixels
const nameOf = (figure) => subjects[figure.dataset.subject]?.name;

// joined joins marks that would overlap: a group has the numbers of its first and last moment. The
// moments are in the order of their time; widthOf returns the width of a mark with a text.
function joined(places, widthOf) {
  const groups = [];
  places.forEach((at, i) => {
    const text = String(i + 1), last = groups.at(-1), left = at - widthOf(text) / 2;
    if (last && left < last.left + last.width) {
      last.text = `${last.text.split("–")[0]}–${text}`;
      last.width = widthOf(last.text);
    } else groups.push({ text, left, width: widthOf(text) });
  });
  return groups;
}

// marksOf draws the numbered marks of the moments, and shades the one that was opened last.
function marksOf(subject) {
  const { clock } = layout(subject);
  return (u) => within(u, ({ ctx, bbox }) => {
    const size = 9 * devicePixelRatio;
    ctx.font = fontOf(11 * devicePixelRatio);
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    const moments = subject.moments || [], start = (moment) => u.valToPos(clock(moment.from), "x", true);
    for (const moment of moments) {
      const from = start(moment), until = u.valToPos(clock(moment.until), "x", true);
      if (moment.id === opened) {
        ctx.fillStyle = css("--opened");
        ctx.fillRect(from - size / 2, bbox.top, until - from + size, bbox.height);
      }
    }
    const top = bbox.top + size * 2.8, widthOf = (text) => Math.max(2 * size, ctx.measureText(text).width + size);
    u.marks = joined(moments.map(start), widthOf);
    for (const { text, left, width } of u.marks) {
      ctx.fillStyle = css("--bad");
      ctx.beginPath();
      ctx.roundRect(left, top - size, width, 2 * size, size);
      ctx.fill();
      ctx.fillStyle = css("--bad-ground");
      ctx.fillText(text, left + width / 2, top);
    }
  });
}

// momentAt returns the moment of a figure's subject that is nearest to a place in its plot, in pixels. A bar
// begins where its bin begins, so a moment may begin up to the width of a bin after it.
function momentAt(figure, left) {
  const subject = subjects[figure.dataset.subject], u = figure.plot;
  if (!subject) return undefined;
  const { clock } = layout(subject), bin = (subject.width || 0) / SECOND;
  const away = (m) => {
    const from = u.valToPos(clock(m.from), "x"), until = u.valToPos(clock(m.until), "x");
    const behind = u.valToPos(clock(m.from) - bin, "x");
    return left < from ? (left >= behind ? 0 : behind - left) : Math.max(0, left - until);
  };
  return (subject.moments || []).filter((m) => away(m) <= NEAR).sort((a, b) => away(a) - away(b))[0];
}

// openMoment shows a moment in the plots, and its details. It returns false if there is none.
function openMoment(id) {
  const details = document.getElementById(id), figure = figures.find((f) => f.dataset.plot === "failures" && momentIn(f, id));
  if (!details || !figure) return false;
  const { clock } = layout(subjects[figure.dataset.subject]), moment = momentIn(figure, id);
  details.open = true;
  opened = id;
  zoomTo(clock(moment.from) - 2, clock(moment.until) + 1, { address: id });
  for (const f of timed()) f.plot.redraw(false);
  figure.scrollIntoView({ block: "start" });
  details.querySelector(".about").focus({ preventScroll: true }); // not its summary: the same press of Enter would close it
  return true;
}

const momentIn = (figure, id) => (subjects[figure.dataset.subject].moments || []).find((m) => m.id === id);

// pickable lets users open a moment in a figure by a click or by Enter.
function pickable(figure) {
  const place = figure.querySelector(".plot");
  const pick = (left) => {
    const moment = momentAt(figure, left);
    if (moment) openMoment(moment.id);
  };
  let pressed = 0;
  place.addEventListener("mousedown", (event) => { pressed = event.clientX; }, true);
  place.addEventListener("click", (event) => {
    if (figure.plot.over.contains(event.target) && Math.abs(event.clientX - pressed) < 5) pick(event.clientX - figure.plot.over.getBoundingClientRect().left);
  }, true);
  place.addEventListener("mousemove", (event) => {
    const over = figure.plot.over;
    over.style.cursor = momentAt(figure, event.clientX - over.getBoundingClientRect().left) ? "pointer" : "";
  });
  place.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && figure.plot.cursor.left >= 0) pick(figure.plot.cursor.left);
  });
}

// follow shows what the page's address names: a moment, or a range of time.
function follow() {
  const fragment = location.hash.slice(1), range = rangeIn(fragment);
  if (openMoment(fragment) || !range) return;
  zoomTo(range.from, range.until, { subject: range.subject });
  figures.find((f) => nameOf(f) === range.subject)?.scrollIntoView({ block: "start" });
}

function followLinks() {
  addEventListener("hashchange", follow);
  // A link to the moment in the current address causes no hashchange.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#moment-"]');
    if (!link || !openMoment(link.hash.slice(1))) return;
    event.preventDefault();
    history.pushState(null, "", link.hash);
  });
  follow();
  // When the page has loaded, the browser scrolls to the details, past the plot.
  if (document.readyState !== "complete") addEventListener("load", () => setTimeout(follow));
}
