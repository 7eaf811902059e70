// Numbers from base64 of 32-bit floats, and numbers as people write them.

const $ = (id) => document.getElementById(id);
const DATA = JSON.parse($("data").textContent);

function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

// An element with text, never markup, inside.
function made(tag, className = "", text = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}

function number(value, digits = 4) {
  if (value === null || !Number.isFinite(value)) return "–";
  if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-4)) {
    const [digitsOf, power] = value.toExponential(2).split("e");
    const raised = [...String(+power)].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻").join("");
    if (digitsOf === "1.00") return `10${raised}`;
    return `${digitsOf.replace("-", "−")}·10${raised}`;
  }
  return String(+value.toPrecision(digits)).replace("-", "−");
}

// Words among which names of signals stand as symbols: "error of p_a1" with a lowered a1.
function phrase(text) {
  const shown = made("span");
  text.split(" ").forEach((word, i) => shown.append(...(i ? [" "] : []), ...symbol(word)));
  return shown;
}

function symbol(word) {
  const parts = /^(d{0,3})([A-Za-zα-ωΑ-Ω]{1,2})_(\w+)$/u.exec(word);
  if (!parts || (parts[1] && parts[2].length > 1)) return [word];
  return [parts[2] + ["", "̇", "̈", "⃛"][parts[1].length], made("sub", "", parts[3].replaceAll("_", " "))];
}

const seconds = (t) => t.toFixed(2).replace("-", "−");
