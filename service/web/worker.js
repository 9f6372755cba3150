// @ts-nocheck - of a worker, not of a window
// The page opens without a network: its files are kept, and asked for anew whenever there is a server.
// Translations never pass through here.

const CACHE = "passerelle";

addEventListener("fetch", (event) => {
  const { request } = event;
  const { pathname } = new URL(request.url);
  const root = new URL("./", location.href).pathname;
  const isOfThePage = pathname === root || pathname.startsWith(`${root}static/`);
  if (request.method === "GET" && isOfThePage) event.respondWith(freshOrKept(request));
});

async function freshOrKept(request) {
  const cache = await caches.open(CACHE);
  try {
    const answer = await fetch(request);
    if (answer.ok) await cache.put(request, answer.clone());
    return answer;
  } catch (error) {
    const kept = await cache.match(request, { ignoreSearch: true });
    if (kept) return kept;
    throw error;
  }
}
