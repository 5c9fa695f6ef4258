// The work page, put together. Each part begins anew with each item.
import { each, open } from "./work-sheet.js";
import * as active from "./work-active.js";
import * as draft from "./work-draft.js";
import * as focus from "./work-focus.js";
import * as keys from "./work-keys.js";
import * as lease from "./work-lease.js";
import * as saved from "./work-saved.js";
import * as send from "./work-send.js";
import * as tabs from "./work-tabs.js";

for (const part of [active, draft, tabs, lease, saved, keys, send, focus]) each(part.begin);
open();
