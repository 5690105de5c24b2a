/**
 * Runs before the page is painted, so that a chosen theme does not flash in. Not a module: those
 * run later.
 */
try {
  const theme = localStorage.getItem("demineur.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset["theme"] = theme;
} catch {
  // Storing is forbidden: the system's theme it is.
}
