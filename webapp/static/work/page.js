// Assembles the work page. Each part starts again with each item.
import { addPart, openItemView } from "./item-view.js";
import { startQuestions } from "../shared/questions/start.js";
import { showConditionalFields } from "../shared/conditions.js";
import { showRankings } from "../shared/ranking.js";
import * as activeTime from "./active-time.js";
import * as draft from "./draft.js";
import * as errors from "./errors.js";
import * as focus from "./focus.js";
import * as instructions from "./instructions.js";
import * as layout from "./layout.js";
import * as lease from "./lease.js";
import * as live from "./live.js";
import * as notices from "./notices.js";
import * as shortcuts from "./shortcuts.js";
import * as submit from "./submit.js";
import * as suggestions from "./suggestions.js";
import * as tabs from "./tabs.js";
import * as thread from "./thread.js";
import * as undo from "./undo.js";

addPart(showConditionalFields);
addPart(({ form }) => showRankings(form));
addPart(startQuestions);
const parts = [layout, activeTime, suggestions, draft, tabs, lease, live, undo, shortcuts, submit, thread, errors, notices, focus, instructions];
for (const part of parts) addPart(part.begin);
openItemView();
