"use strict";
// What the terminal sends before its connection stands waits for it: the browser would refuse it.
const sendNow = WebSocket.prototype.send;
WebSocket.prototype.send = function (data) {
  if (this.readyState !== WebSocket.CONNECTING) return sendNow.call(this, data);
  this.addEventListener("open", () => sendNow.call(this, data), { once: true });
};
// The terminal takes the keys from the start and whenever its window is in front: no click first.
const takeKeys = () => document.querySelector(".xterm-helper-textarea")?.focus();
window.addEventListener("load", takeKeys); // after textual.js, whose own handler makes the terminal
window.addEventListener("focus", takeKeys);
document.addEventListener("keydown", (event) => {
  if (event.target === document.body) takeKeys();
});
