# Makes a Vivado project with FGPU beside the processors of a Zynq-7000, its bitstream fgpu.bit and fgpu.hwh for PYNQ:
#
#     vivado -mode batch -source block_design.tcl -tclargs BOARD [MHZ]
#
# The processors reach FGPU's control interface at $control_address through M_AXI_GP0; FGPU reaches their DDR memory
# through S_AXI_HP0 (and HP1 ... with more ports); its interrupt is IRQ_F2P[0], which Linux knows as SPI 29.

set here [file dirname [file normalize [info script]]]
source [file join $here core.tcl]

set board [lindex $argv 0]
set mhz [expr {[llength $argv] > 1 ? [lindex $argv 1] : $clock_mhz}]
if {![dict exists $boards $board]} {
    error "choose a board: [dict keys $boards]"
}
lassign [dict get $boards $board] part pattern

# Board files say how the DDR memory of a board is wired: get them from Vivado's Store (Tools, XHub Stores, Boards).
set board_part [lindex [lsort [get_board_parts $pattern]] end]
if {$board_part eq ""} {
    error "Vivado has no board files $pattern: install them from its Store"
}
create_project fgpu_$board [file join $here $board] -part $part -force
set_property board_part $board_part [current_project]
set_property ip_repo_paths $here [current_project]
update_ip_catalog

# The processors, with the memory and pins that the board has, and what FGPU needs.
create_bd_design design_1
set ps [create_bd_cell -type ip -vlnv xilinx.com:ip:processing_system7:5.5 $processors]
apply_bd_automation -rule xilinx.com:bd_rule:processing_system7 \
    -config {make_external "FIXED_IO, DDR" apply_board_preset "1"} $ps
set settings [list CONFIG.PCW_FPGA0_PERIPHERAL_FREQMHZ $mhz CONFIG.PCW_USE_M_AXI_GP0 1 \
    CONFIG.PCW_USE_FABRIC_INTERRUPT 1 CONFIG.PCW_IRQ_F2P_INTR 1]
for {set i 0} {$i < $data_ports} {incr i} {
    lappend settings CONFIG.PCW_USE_S_AXI_HP$i 1 CONFIG.PCW_S_AXI_HP${i}_DATA_WIDTH $data_width
}
set_property -dict $settings $ps

# One clock and one reset for all of it.
create_bd_cell -type ip -vlnv $vlnv $cell
create_bd_cell -type ip -vlnv xilinx.com:ip:proc_sys_reset:5.0 reset
set clock [get_bd_pins $processors/FCLK_CLK0]
connect_bd_net [get_bd_pins $processors/FCLK_RESET0_N] [get_bd_pins reset/ext_reset_in]
foreach pin [list reset/slowest_sync_clk $cell/clk $processors/M_AXI_GP0_ACLK] {
    connect_bd_net $clock [get_bd_pins $pin]
}
connect_bd_net [get_bd_pins reset/peripheral_reset] [get_bd_pins $cell/rst]
connect_bd_net [get_bd_pins $cell/irq] [get_bd_pins $processors/IRQ_F2P]

# The processors' ports are AXI3. FGPU's bursts have $burst_beats beats at most, so none is split.
proc convert {name from from_protocol to to_protocol} {
    create_bd_cell -type ip -vlnv xilinx.com:ip:axi_protocol_converter:2.1 $name
    set_property -dict [list CONFIG.SI_PROTOCOL $from_protocol CONFIG.MI_PROTOCOL $to_protocol] [get_bd_cells $name]
    connect_bd_intf_net [get_bd_intf_pins $from] [get_bd_intf_pins $name/S_AXI]
    connect_bd_intf_net [get_bd_intf_pins $name/M_AXI] [get_bd_intf_pins $to]
    connect_bd_net $::clock [get_bd_pins $name/aclk]
    connect_bd_net [get_bd_pins reset/peripheral_aresetn] [get_bd_pins $name/aresetn]
}
convert control $processors/M_AXI_GP0 AXI3 $cell/s_axi AXI4LITE
for {set i 0} {$i < $data_ports} {incr i} {
    convert data$i $cell/m${i}_axi AXI4 $processors/S_AXI_HP$i AXI3
    connect_bd_net $clock [get_bd_pins $processors/S_AXI_HP${i}_ACLK]
}

# Addresses.
assign_bd_address -offset $control_address -range $control_range \
    -target_address_space [get_bd_addr_spaces $processors/Data] [get_bd_addr_segs $cell/s_axi/$control_block]
for {set i 0} {$i < $data_ports} {incr i} {
    assign_bd_address -offset 0 -range $memory_range -target_address_space [get_bd_addr_spaces $cell/m${i}_axi] \
        [get_bd_addr_segs $processors/S_AXI_HP$i/HP${i}_DDR_LOWOCM]
}
validate_bd_design
save_bd_design

# Synthesis, placement, routing, bitstream.
set design [get_files design_1.bd]
add_files -norecurse [make_wrapper -files $design -top]
set_property top design_1_wrapper [current_fileset]
generate_target all $design
launch_runs impl_1 -to_step write_bitstream -jobs 4
wait_on_run impl_1
set project [get_property directory [current_project]]
file copy -force [lindex [glob $project/*.runs/impl_1/design_1_wrapper.bit] 0] [file join $here fgpu.bit]
file copy -force [lindex [glob $project/*.gen/sources_1/bd/design_1/hw_handoff/design_1.hwh] 0] \
    [file join $here fgpu.hwh]
open_run impl_1
report_utilization -file [file join $here $board utilization.txt]
report_timing_summary -file [file join $here $board timing.txt]
set slack [get_property SLACK [get_timing_paths]]
if {$slack < 0} {
    error "the design is too slow for $mhz MHz by $slack ns: try fewer MHz"
}
