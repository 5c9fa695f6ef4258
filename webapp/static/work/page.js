// Assembles the work page. Each part starts again with each item.
import { each, open } from "./item-view.js";
import { showAsked } from "../shared/conditions.js";
import * as active from "./active-time.js";
import * as draft from "./draft.js";
import * as focus from "./focus.js";
import * as keys from "./shortcuts.js";
import * as lease from "./lease.js";
import * as live from "./live.js";
import * as saved from "./undo.js";
import * as send from "./submit.js";
import * as tabs from "./tabs.js";
import * as thread from "./thread.js";

each(showAsked);
for (const part of [active, draft, tabs, lease, live, saved, keys, send, thread, focus]) each(part.begin);
open();
