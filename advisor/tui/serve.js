"use strict";
// The terminal takes the keys from the start and whenever its window is in front: no click first.
const takeKeys = () => document.querySelector(".xterm-helper-textarea")?.focus();
window.addEventListener("load", takeKeys); // after textual.js, whose own handler makes the terminal
window.addEventListener("focus", takeKeys);
document.addEventListener("keydown", (event) => {
  if (event.target === document.body) takeKeys();
});
