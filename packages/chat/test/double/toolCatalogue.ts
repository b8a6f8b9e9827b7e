/** Three hundred tools of twenty servers, and a hundred questions with the tool that each wants, written before any search was tried. */
import { tool } from "../../src/tool/functionTool.ts"
import type { Tool } from "../../src/tool/toolContract.ts"

const servers: Readonly<Record<string, string>> = {
  github: `create_issue: Open a new issue in a repository
close_issue: Close an issue
list_issues: List the issues of a repository with filters for labels and state
comment_on_issue: Add a comment to an issue or pull request
create_pull_request: Open a pull request from a branch
merge_pull_request: Merge an open pull request
review_pull_request: Submit a review with approval or requested changes
list_commits: Show the commit history of a branch
create_branch: Create a branch from a commit
get_file_contents: Read a file of a repository at a ref
search_code: Find code across repositories
create_release: Publish a release with notes for a tag
list_workflow_runs: List runs of the continuous integration workflows
rerun_workflow: Start a failed workflow run again
add_collaborator: Give a user access to a repository`,
  slack: `post_message: Send a message to a channel
reply_in_thread: Answer a message in its thread
list_channels: List the channels of a workspace
create_channel: Create a public or private channel
archive_channel: Archive a channel
invite_to_channel: Add users to a channel
add_reaction: React to a message with an emoji
search_messages: Find messages by words, author or date
get_user_profile: Show the profile of a workspace member
set_status: Set the status text and emoji of the user
upload_file: Share a file in a channel
pin_message: Pin a message to a channel
schedule_message: Send a message at a later time
open_direct_message: Start a private conversation with members
list_members: List the members of a channel`,
  calendar: `create_event: Put a meeting into a calendar with attendees
update_event: Move or change a meeting
delete_event: Cancel a meeting
list_events: Show the meetings of a day or week
find_free_time: Find a time at which all attendees are available
respond_to_invitation: Accept or decline an invitation
create_calendar: Add a calendar
share_calendar: Let another person see a calendar
set_working_hours: Define the hours in which meetings are possible
book_room: Reserve a meeting room
list_rooms: List rooms with their capacity and equipment
set_out_of_office: Mark days of absence and an automatic answer
add_video_link: Attach a video conference to a meeting
set_reminder: Notify the user before a meeting
export_calendar: Export a calendar as an iCal file`,
  mail: `send_email: Send an email with subject, body and attachments
reply_to_email: Answer an email
forward_email: Forward an email to others
search_inbox: Find emails by sender, subject or text
mark_as_read: Mark emails as read or unread
move_to_folder: Move emails to a folder
create_folder: Create a mail folder
delete_email: Put an email into the trash
create_draft: Save an email without sending it
list_attachments: List the attachments of an email
download_attachment: Get the bytes of an attachment
create_filter: Sort incoming mail by a rule
block_sender: Refuse all mail of an address
unsubscribe: Leave a mailing list
set_signature: Change the text at the end of outgoing mail`,
  stripe: `create_customer: Create a customer record for billing
create_invoice: Draft an invoice for a customer
send_invoice: Send an invoice for payment
refund_charge: Return the money of a payment
list_charges: List payments with their status
create_subscription: Start a recurring plan for a customer
cancel_subscription: End a recurring plan
create_coupon: Create a discount
create_payment_link: Make a page where anyone can pay for a product
list_disputes: List payments that card holders contest
answer_dispute: Submit evidence for a contested payment
get_balance: Show the money that is available and pending
create_payout: Transfer the balance to a bank account
update_card: Replace the payment method of a customer
create_product: Add a product with prices`,
  postgres: `run_query: Run a read-only SQL statement
execute_statement: Run an SQL statement that writes
list_tables: List the tables of a schema
describe_table: Show the columns, types and keys of a table
explain_query: Show the execution plan of a statement
create_index: Build an index on columns
drop_index: Remove an index
list_slow_queries: Show the statements that take the longest time
backup_database: Write a dump of a database
restore_database: Load a dump into a database
create_role: Add a database user
grant_privileges: Give a role access to tables
vacuum_table: Reclaim the space of deleted rows
list_connections: Show the sessions that are connected
kill_connection: End a database session`,
  kubernetes: `list_pods: List pods of a namespace with their state
get_logs: Read the output of a container
scale_deployment: Change the number of replicas
rollout_restart: Replace all pods of a deployment one after another
rollback_deployment: Go back to the revision before
apply_manifest: Create or update resources from YAML
delete_resource: Delete a resource by kind and name
exec_in_pod: Run a command inside a container
port_forward: Reach a port of a pod from the local machine
get_events: Show recent events of the cluster
list_nodes: List the machines of the cluster
drain_node: Move all pods off a machine
create_secret: Store a password or key for pods
get_resource_usage: Show processor and memory use
create_cron_job: Run a container on a schedule`,
  jira: `create_ticket: File a bug or a task in a project
assign_ticket: Set the person who works on a ticket
transition_ticket: Move a ticket to another status
log_work: Record hours spent on a ticket
search_tickets: Find tickets by JQL
link_tickets: Connect two tickets, as blocks or duplicates
add_to_sprint: Plan a ticket for an iteration
start_sprint: Begin an iteration
complete_sprint: Finish an iteration
get_burndown: Show the remaining work of an iteration
create_epic: Create a large piece of work with children
set_priority: Change how urgent a ticket is
add_watcher: Notify a person about changes of a ticket
estimate_story_points: Set the size of a ticket
list_projects: List the projects of the site`,
  drive: `search_documents: Find files by name or text
create_document: Create a text document
share_document: Give people access to a document
copy_document: Duplicate a file
move_document: Put a file into another folder
export_as_pdf: Convert a document to PDF
list_revisions: Show earlier versions of a document
restore_revision: Bring back an earlier version
create_spreadsheet: Create a sheet
read_cells: Read a range of a sheet
write_cells: Change a range of a sheet
create_presentation: Create slides
trash_file: Delete a file
get_storage_quota: Show how much space is used
create_shortcut: Point to a file from another folder`,
  crm: `create_contact: Add a person with email and phone
update_contact: Change the details of a person
merge_contacts: Combine two records of the same person
create_deal: Add a sales opportunity with its amount
move_deal_stage: Advance an opportunity in the pipeline
mark_deal_won: Close an opportunity as won
mark_deal_lost: Close an opportunity as lost, with a reason
log_call: Note a phone conversation with a person
create_company: Add an organisation
list_pipeline: Show the opportunities by stage
forecast_revenue: Estimate the sales of a quarter
assign_owner: Give an opportunity to a sales person
import_contacts: Load persons from a CSV file
create_segment: Group persons by criteria
enroll_in_sequence: Start a series of follow-up mails to a person`,
  aws: `list_buckets: List the object storage buckets
put_object: Upload an object to a bucket
get_object: Download an object from a bucket
presign_url: Make a temporary link to an object
list_instances: List virtual machines with their state
start_instance: Boot a virtual machine
stop_instance: Shut a virtual machine down
invoke_function: Call a serverless function
update_function_code: Deploy new code of a serverless function
get_cost_report: Show spending by service and month
create_alarm: Alert when a metric crosses a threshold
get_metrics: Read time series of a resource
rotate_key: Replace an access key by a new one
create_dns_record: Point a host name to an address
purge_cdn_cache: Remove files from the edge caches`,
  sentry: `list_errors: List the newest exceptions of a project
get_stack_trace: Show where an exception was thrown
resolve_error: Mark an exception as fixed
ignore_error: Mute an exception
assign_error: Give an exception to a developer
list_affected_users: Show who met an exception
get_release_health: Show the share of sessions without a crash
create_alert_rule: Notify when exceptions become frequent
get_breadcrumbs: Show what happened before an exception
list_performance_issues: Show slow transactions
compare_releases: Compare crash rates of two versions
get_replay: Watch what a user did before an exception
upload_source_maps: Add files that map minified code
set_sample_rate: Change how many events are kept
search_events: Find events by tags`,
  shop: `list_orders: List orders with their state
get_order: Show an order with its items
cancel_order: Cancel an order that is not shipped
track_shipment: Show where a parcel is
create_return: Register goods that a customer sends back
update_stock: Change how many pieces of an item are in the warehouse
list_low_stock: Show items that will soon be sold out
set_price: Change the price of an item
add_item: Add an item to the catalogue
hide_item: Take an item out of the shop
create_discount_code: Make a code for a rebate
print_shipping_label: Make a label for a parcel
calculate_shipping: Show what delivery to an address costs
list_reviews: Show what customers wrote about an item
answer_review: Reply publicly to what a customer wrote`,
  weather: `get_current_weather: Show temperature, wind and sky at a place now
get_forecast: Show the weather of the next days
get_hourly_forecast: Show the weather hour by hour
get_air_quality: Show pollutants and pollen
get_uv_index: Show how strong the sun is
get_sunrise_sunset: Show when the sun rises and sets
get_rain_radar: Show where it rains
get_severe_warnings: Show warnings of storms and floods
get_tides: Show high and low water
get_snow_report: Show snow depth of ski areas
get_climate_history: Show average weather of past years
get_sea_temperature: Show how warm the water is
get_wind_map: Show wind over an area
get_moon_phase: Show the phase of the moon
get_drought_index: Show how dry the soil is`,
  maps: `geocode_address: Turn an address into coordinates
reverse_geocode: Turn coordinates into an address
get_directions: Show the way between two places
get_travel_time: Estimate how long a trip takes with traffic
search_places: Find restaurants, shops and sights near a point
get_place_details: Show opening hours and ratings of a place
get_elevation: Show the height above the sea
get_time_zone: Show the time zone of coordinates
optimize_route: Order many stops for the shortest trip
get_static_map: Draw a map as an image
get_street_view: Show a photo from the street
get_public_transport: Show buses and trains between two places
get_speed_limit: Show the allowed speed of a road
find_parking: Find places to leave a car
find_charging_station: Find places to load an electric car`,
  hr: `list_employees: List the staff with department
get_employee: Show the record of a staff member
request_vacation: Ask for days off
approve_vacation: Agree to days off of a staff member
get_vacation_balance: Show how many days off are left
report_sick: Report an illness
submit_expense: Hand in a receipt to be repaid
approve_expense: Agree to repay a receipt
get_payslip: Download the statement of a salary
create_job_posting: Publish a vacancy
list_applicants: List the candidates of a vacancy
schedule_interview: Plan a conversation with a candidate
send_offer: Send a contract to a candidate
start_onboarding: Begin the checklist of a new staff member
record_feedback: Write down an appraisal`,
  music: `play_song: Play a title
pause_playback: Stop the sound for now
skip_track: Go to the next title
set_volume: Make it louder or quieter
search_music: Find songs, albums and artists
create_playlist: Create a list of songs
add_to_playlist: Put a song into a list
get_recommendations: Suggest songs by taste
get_lyrics: Show the words of a song
follow_artist: Get news of a band
list_devices: List the speakers that can play
transfer_playback: Continue on another speaker
get_top_tracks: Show the most played songs
identify_song: Recognise a recording
start_radio: Play an endless mix like a song`,
  home: `turn_on_light: Switch a lamp on
turn_off_light: Switch a lamp off
dim_light: Set the brightness of a lamp
set_thermostat: Set the temperature of a room
lock_door: Lock a door
unlock_door: Unlock a door
open_blinds: Raise the shutters
close_blinds: Lower the shutters
start_vacuum: Let the robot clean the floor
get_camera_image: Show a picture of a security camera
arm_alarm: Switch the burglar alarm on
disarm_alarm: Switch the burglar alarm off
get_energy_use: Show how much power the house draws
water_garden: Run the irrigation
run_scene: Set many devices at once`,
  translate: `translate_text: Translate a text into another language
detect_language: Tell in which language a text is
translate_document: Translate a file and keep its layout
list_languages: List the languages that can be translated
add_glossary_term: Define how a word is translated
transcribe_audio: Write down what is said in a recording
synthesize_speech: Read a text aloud
summarize_text: Shorten a text
check_grammar: Correct mistakes of a text
rewrite_tone: Make a text more formal or friendlier
extract_entities: Find names, places and dates in a text
classify_sentiment: Tell whether a text is positive or negative
ocr_image: Read the letters in a picture
count_tokens: Count how long a text is for a model
compare_texts: Show the differences of two texts`,
  finance: `get_stock_price: Show what a share costs now
get_price_history: Show the prices of a share over time
get_exchange_rate: Show what a currency is worth in another
convert_currency: Convert an amount of money
get_company_financials: Show revenue and profit of a company
list_transactions: List the bookings of a bank account
transfer_money: Send money to an account
create_standing_order: Send money each month
get_account_balance: Show how much money an account has
set_budget: Limit what may be spent in a category
categorize_transaction: Put a booking into a category
download_statement: Get the statement of an account
calculate_loan: Show the instalments of a credit
get_tax_report: Sum up income and deductions of a year
block_card: Stop a card that was lost or stolen`
}

/** The tools; each has the arguments that such a tool usually has. */
export const catalogue = (deferred: (server: string) => Tool["deferred"]): ReadonlyArray<Tool> =>
  Object.entries(servers).flatMap(([server, lines]) =>
    lines.split("\n").map((line) => {
      const [name = "", description] = line.split(/: (.*)/)
      const property = { type: "string", description: `The ${name.split("_").slice(1).join(" ")} to use` }
      const properties = { id: property, options: { type: "object", properties: { limit: { type: "number" } } } }
      const parameters = { type: "object", properties, required: ["id"] }
      return tool({ name, description, parameters, deferred: deferred(server), execute: () => `did ${name}` })
    })
  )

const asked = `create_issue: file a bug report on the repo
merge_pull_request: merge the PR
list_commits: what changed recently on main, commits
get_file_contents: read the README of the repository
rerun_workflow: CI failed, run it again
create_release: publish version 2.0 with release notes
search_code: find where this function is used in our code
post_message: tell the team channel that we are done
add_reaction: put a thumbs up emoji on her message
schedule_message: send this message tomorrow morning
open_direct_message: write privately to Anna, direct message
search_messages: find the message where Bob mentioned the deadline
set_status: change my status to on holiday
create_event: set up a meeting with Tom on Friday
find_free_time: when are we all free next week
book_room: reserve a meeting room for ten people
set_out_of_office: I am away next week, set out of office
respond_to_invitation: accept the invitation
delete_event: cancel the meeting on Monday
send_email: send an email to the supplier
search_inbox: find the emails from the bank
create_filter: make a rule for incoming newsletters
block_sender: block this spammer
unsubscribe: unsubscribe me from this list
download_attachment: download the attachment of that email
refund_charge: give the customer their money back, refund
create_invoice: make an invoice for the customer
cancel_subscription: stop the monthly subscription
create_payment_link: I need a link where people can pay
list_disputes: which payments are contested
get_balance: how much money is pending at the payment provider
run_query: run a SQL query
describe_table: what columns has the table users
explain_query: why is this query slow, show its plan
backup_database: make a backup of the database
kill_connection: terminate a stuck database session
grant_privileges: give the reporting user access to the tables
list_pods: which pods are running
get_logs: show me the logs of the container
scale_deployment: scale the web deployment to five replicas
rollback_deployment: roll back the last deployment
drain_node: take a machine out of the cluster
create_secret: store the API key as a secret
create_ticket: create a task in the project
assign_ticket: assign the ticket to Maria
log_work: I worked three hours on this ticket
start_sprint: start the sprint
get_burndown: show the burndown chart
set_priority: make this ticket more urgent, priority
share_document: give Peter access to the document
export_as_pdf: convert the document to PDF
restore_revision: bring back the previous version of the document
read_cells: read the cells A1 to C10
get_storage_quota: how much storage space do I have left
create_contact: add a new contact with phone number
create_deal: add an opportunity worth 10,000
mark_deal_lost: we lost the deal
forecast_revenue: what will we sell this quarter, forecast
merge_contacts: these two contacts are duplicates, merge them
import_contacts: import contacts from a CSV
put_object: upload a file to the bucket
presign_url: temporary link to the object
start_instance: boot the virtual machine
invoke_function: call the lambda function
get_cost_report: what did we spend on the cloud last month
purge_cdn_cache: clear the CDN cache
rotate_key: rotate the access key
list_errors: newest exceptions in production
get_stack_trace: show the stack trace of the exception
get_release_health: crash free sessions of the release
resolve_error: mark the exception as fixed
track_shipment: where is the parcel
cancel_order: cancel my order
create_return: the customer wants to return goods
update_stock: set the stock of the item to 40 pieces
calculate_shipping: what does delivery to Vienna cost
list_low_stock: which items are nearly sold out
get_forecast: will it rain this weekend, forecast
get_current_weather: how warm is it in Paris now
get_sunrise_sunset: when does the sun set
get_air_quality: pollen and air quality today
geocode_address: coordinates of this address
get_directions: how do I get from the station to the museum
search_places: restaurants near me
optimize_route: shortest trip over ten stops
get_public_transport: which bus goes there
find_charging_station: where can I charge my electric car
request_vacation: I want to take vacation in July
get_vacation_balance: how many vacation days are left
submit_expense: hand in my taxi receipt
get_payslip: download my payslip
list_applicants: who applied for the vacancy
play_song: play a song by the Beatles
set_volume: make the music louder, volume
set_thermostat: set the living room to 21 degrees, temperature
lock_door: lock the front door
translate_text: translate this text to French
transcribe_audio: transcribe the recording
get_exchange_rate: exchange rate of euro to dollar
block_card: my card was stolen, block it`

/** The questions, as a model would put them, each with the name of the tool that it wants. */
export const questions: ReadonlyArray<{ readonly wanted: string; readonly query: string }> = asked
  .split("\n")
  .map((line) => {
    const [wanted = "", query = ""] = line.split(/: (.*)/)
    return { wanted, query }
  })
