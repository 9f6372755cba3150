// The reader's choice of colours, before anything is drawn: this script is loaded in the head and not deferred.
// Without a choice they follow the system, see style.css.
{
  const STORED = "passerelle.theme";
  const root = document.documentElement;
  try {
    root.dataset.theme = localStorage.getItem(STORED) ?? "system";
  } catch {
    root.dataset.theme = "system";
  }
  addEventListener("DOMContentLoaded", () => {
    const choice = document.querySelector("#theme");
    if (!(choice instanceof HTMLSelectElement)) return;
    choice.value = root.dataset.theme ?? "system";
    choice.addEventListener("change", () => {
      root.dataset.theme = choice.value;
      try {
        localStorage.setItem(STORED, choice.value);
      } catch {
        // for this visit only
      }
    });
  });
}
