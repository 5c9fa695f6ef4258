import type { components, operations } from "./api"; // made by openapi-typescript of /api/v1/openapi.json

type Verb = "reserve" | "renew" | "finish";
type Sent<V extends Verb> = NonNullable<operations[V]["requestBody"]>["content"]["application/json"];
type Received<V extends Verb> = operations[V]["responses"][200]["content"]["application/json"];
type Lease = components["schemas"]["Lease"];

const find = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const [signIn, work] = [find<HTMLFormElement>("signin"), find<HTMLFormElement>("work")];
const field = (form: HTMLFormElement, name: string) => String(new FormData(form).get(name));
const say = (text: string) => { find("status").textContent = text; };
let lease: Lease | null = null, clock = 0;

class Refused extends Error {
  constructor(readonly problem: components["schemas"]["Problem"]) { super(problem.detail); }
}

// One call; null where there is no item now. With its key a repeat after a lost reply takes effect once.
async function call<V extends Verb>(verb: V, body: Sent<V>): Promise<Received<V> | null> {
  const path = verb === "reserve" ? verb : `items/${encodeURIComponent(lease!.id)}/${verb}`;
  const url = `${field(signIn, "base")}/api/v1/queues/${encodeURIComponent(field(signIn, "queue"))}/${path}`;
  const key = { "Idempotency-Key": crypto.randomUUID(), "Content-Type": "application/json" };
  const headers = { Authorization: `Bearer ${field(signIn, "token")}`, ...key };
  const send = () => fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  const reply = await send().catch(send);
  if (!reply.ok) throw new Refused(await reply.json());
  signIn.hidden = true; // the token is accepted
  if (reply.status !== 204) return reply.json();
  return new Promise((done) => setTimeout(done, 1000 * Number(reply.headers.get("Retry-After")), null));
}

async function take(next: Lease | null = null, before = "") {
  clearInterval(clock);
  work.hidden = true;
  say(`${before} Waiting for an item …`);
  for (lease = next; !lease;) lease = await call("reserve", { wait: 20 });
  const { token, payload, expires_at, lease_seconds } = lease;
  find("payload").textContent = JSON.stringify(payload, null, 2);
  work.reset();
  work.hidden = false;
  say(`${before} Yours until ${new Date(expires_at).toLocaleTimeString()}; renewed while this page is open.`);
  clock = setInterval(attempt(() => call("renew", { token })), 500 * lease_seconds);
}

async function finish() {
  const result = { answer: field(work, "answer") };
  const body: Sent<"finish"> = { token: lease!.token, result, then_reserve: true };
  const done = await call("finish", body).catch((error) => {
    if (error.problem?.code === "lease-lost") return { next: null, lost: error.message };
    throw error;
  });
  await take(done?.next, done && "lost" in done ? done.lost : "Finished.");
}

const attempt = (act: () => Promise<unknown>) => (event?: Event) => {
  event?.preventDefault();
  act().catch((error) => say(error.message));
};
signIn.onsubmit = attempt(take);
work.onsubmit = attempt(finish);
