// The time of the run that everything shows: one number, many listeners.

const clock = {
  begin: DATA.span[0], end: DATA.span[1], now: DATA.span[0], speed: 1, playing: false, last: 0, listeners: [],
  onChange(listener) { this.listeners.push(listener); },
  set(t) {
    this.now = Math.min(Math.max(t, this.begin), this.end);
    this.listeners.forEach((listener) => listener(this.now));
  },
  go(t) { // there, and stay
    this.playing = false;
    this.set(t);
  },
  play(on = !this.playing) {
    if (on && this.now >= this.end) this.set(this.begin);
    this.playing = on;
    this.last = performance.now();
    this.listeners.forEach((listener) => listener(this.now));
    if (on) requestAnimationFrame((at) => this.tick(at));
  },
  tick(at) {
    if (!this.playing) return;
    const passed = Math.max(0, at - this.last) / 1000;
    this.last = at;
    const next = this.now + Math.min(passed, 0.2) * this.speed;
    if (next >= this.end) this.playing = false;
    this.set(next);
    if (this.playing) requestAnimationFrame((then) => this.tick(then));
  },
};
